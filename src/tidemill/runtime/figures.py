"""A running app's figures for other processes: a small file beside its state, written now and then."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tidemill.errors import NotFound
from tidemill.kafka.embedded.pids import ProcessId
from tidemill.kafka.private import write_private
from tidemill.runtime.known import find_apps

log = logging.getLogger(__name__)

FILE = "metrics.json"
_EVERY_SECONDS = 1.0


class FiguresFile:
    """Writes the file while the app runs, and takes it away when it ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._due = 0.0
        self._process = ProcessId.of(os.getpid())

    def keep(self, figures: Callable[[], Mapping[str, Any]]) -> None:
        """Write the figures if it is time to."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + _EVERY_SECONDS
        process = self._process
        owner = None if process is None else [process.pid, process.started, process.boot]
        data = {**figures(), "process": owner, "written": time.time()}
        try:
            write_private(self._path, json.dumps(data))
        except OSError as error:
            log.debug("the figures could not be written down: %s", error)

    def remove(self) -> None:
        """The app has ended."""
        self._path.unlink(missing_ok=True)


def running_apps(state_dir: Path | None = None) -> list[dict[str, Any]]:
    """The figures of all apps that run on this machine, by name; of one state directory if it is given."""
    found = [_read(known.folder / FILE) for known in find_apps(state_dir)]
    return sorted((figures for figures in found if figures is not None), key=lambda figures: figures["app"])


def running_app(application_id: str, state_dir: Path | None = None) -> dict[str, Any]:
    """The figures of one running app."""
    for figures in running_apps(state_dir):
        if figures["app"] == application_id:
            return figures
    raise NotFound(
        f"no app `{application_id}` runs here",
        where=None if state_dir is None else str(state_dir),
        remedy="look at `tidemill app list`; --state-dir says where else apps keep their state",
    )


def _read(path: Path) -> dict[str, Any] | None:
    try:
        figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        # What a killed process left behind is not the figures of a running app.
        owner = figures.pop("process")
        return figures if owner is None or ProcessId(*owner).alive() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
