"""The first question about a group on a cluster that has just started."""

from __future__ import annotations

import subprocess
import sys

FIRST_QUESTION = """
from tidemill.kafka.admin import Admin
from tidemill.kafka.embedded import Cluster
from tidemill.kafka.groups import committed
from tidemill.kafka.settings import Settings

with Cluster(name="new") as kafka:
    for name in ("one", "two", "three"):
        print(committed(Admin(Settings.of(kafka.client_config())), name))
"""


def test_offsets_are_asked_for_before_the_coordinator_is_ready() -> None:
    """In a process of its own: what went wrong here ended the whole process."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_QUESTION], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "{}\n{}\n{}\n"), done.stderr
