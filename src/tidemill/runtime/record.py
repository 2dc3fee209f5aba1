"""What an app tells other processes about itself: a small file beside its state."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from tidemill.errors import TidemillError
from tidemill.kafka.embedded.pids import ProcessId
from tidemill.kafka.private import write_private
from tidemill.runtime.config import AppConfig
from tidemill.runtime.state import State
from tidemill.topology import Topology

log = logging.getLogger(__name__)

RECORD = "run.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The last run of an app. Holds no secret: `settings` has those a placeholder stands for, or none."""

    application_id: str
    host: str
    process: ProcessId | None
    state: State
    since: float
    started: float
    error: str | None = None
    master: str = ""
    guarantee: str = ""
    latency: str = ""
    checkpoint: str
    source_topics: list[str] = field(default_factory=list)
    sink_topics: list[str] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    topology: str = ""

    @property
    def is_here(self) -> bool:
        """Whether it ran on this machine, so that its pid means something."""
        return self.host == socket.gethostname()


def read_run(folder: Path) -> Run | None:
    """What an app has written about its last run; None if it never ran or the file cannot be read."""
    try:
        data: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        known = {item.name for item in fields(Run)}
        process = data.get("process")
        return Run(
            **{
                **{name: value for name, value in data.items() if name in known},
                "process": None if process is None else ProcessId(**process),
                "state": State(data["state"]),
            }
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None


class RunRecord:
    """Writes the file, from the moment the app has its lock until it gives it back."""

    def __init__(self, config: AppConfig, topology: Topology) -> None:
        self._folder = config.folder
        self._run: Run | None = None
        self._config = config
        self._topology = topology

    def begin(self) -> None:
        """The lock is ours: from now on the file is too."""
        config, now = self._config, time.time()
        self._run = Run(
            application_id=config.application_id,
            host=socket.gethostname(),
            process=ProcessId.of(os.getpid()),
            state=State.STARTING,
            since=now,
            started=now,
            master=config.master,
            guarantee=str(config.guarantee),
            latency=str(config.latency),
            checkpoint=config.checkpoint,
            source_topics=list(self._topology.source_topics),
            sink_topics=list(self._topology.sink_topics),
            stores=list(self._topology.stores),
            settings=_without_secrets(config),
            topology=self._topology.describe(),
        )
        self._write()

    def moved(self, state: State) -> None:
        """The app is in another state."""
        if self._run is not None:
            self._run = replace(self._run, state=state, since=time.time())
            self._write()

    def end(self, error: TidemillError | None) -> None:
        """The lock is about to be given back."""
        if self._run is not None:
            self._run = replace(self._run, error=None if error is None else str(error))
            self.moved(State.STOPPED if error is None else State.ERROR)
            self._run = None

    def _write(self) -> None:
        assert self._run is not None
        try:
            write_private(self._folder / RECORD, json.dumps(asdict(self._run), indent=1))
        except OSError as error:
            log.warning("what the app does could not be written down: %s", error)


def _without_secrets(config: AppConfig) -> dict[str, str]:
    shown = config.admin_settings().entries()
    return {entry.name: entry.raw for entry in shown if entry.shown == entry.raw}
