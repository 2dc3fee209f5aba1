"""The running dev cluster, as the default of commands that name no other."""

from __future__ import annotations

from tidemill.errors import TidemillError
from tidemill.kafka.settings import Settings


def running_settings() -> Settings | None:
    """Settings for the running dev cluster, login included; None if none runs."""
    from tidemill.kafka.embedded import dev

    for name in sorted(dev.dev_names(), key=lambda name: name != dev.DEFAULT_NAME):
        try:
            if dev.dev_status(name).running:
                return Settings.of(dev.dev_cluster(name).client_config(), source=f"dev cluster {name}")
        except (OSError, TidemillError):
            continue
    return None
