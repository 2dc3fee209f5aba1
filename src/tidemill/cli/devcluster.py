"""The running dev cluster, as the default of commands that name no other."""

from __future__ import annotations

from tidemill.kafka.settings import Settings


def running_settings() -> Settings | None:
    """Settings for the running dev cluster; None if none runs."""
    return None
