"""The file that says what a cluster is and which processes run it; other processes find the cluster by it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tidemill.kafka.embedded.layout import Layout
from tidemill.kafka.embedded.pids import ProcessId
from tidemill.kafka.private import write_private

TEMPORARY_PREFIX = "tidemill-kafka-"


@dataclass
class NodeState:
    """One broker: its ports by listener name, and its process while it runs."""

    node: int
    ports: dict[str, int] = field(default_factory=dict)
    process: ProcessId | None = None

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.alive()


@dataclass
class State:
    """All that is known of a cluster."""

    name: str
    cluster_id: str
    secure: str | None = None
    detached: bool = False
    owner: ProcessId | None = None
    nodes: list[NodeState] = field(default_factory=list)

    def write(self, layout: Layout) -> None:
        write_private(layout.state, json.dumps(asdict(self), indent=2) + "\n")

    @property
    def running(self) -> bool:
        return any(node.alive for node in self.nodes)


def read_state(layout: Layout) -> State | None:
    """The state below a directory; None where there is no (whole) one."""
    try:
        found = json.loads(layout.state.read_text(encoding="utf-8"))
        nodes = [
            NodeState(node["node"], node["ports"], _process(node["process"])) for node in found.pop("nodes")
        ]
        return State(owner=_process(found.pop("owner")), nodes=nodes, **found)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def temporary_directory() -> Path:
    """A new directory for a cluster that is not kept; those of processes that were killed are removed."""
    _sweep(Path(tempfile.gettempdir()))
    return Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX))


def _sweep(directory: Path) -> None:
    for candidate in directory.glob(f"{TEMPORARY_PREFIX}*"):
        try:
            if candidate.stat().st_uid != os.getuid():
                continue
        except OSError:
            continue
        state = read_state(Layout(candidate))
        if state is not None and not state.running and not (state.owner and state.owner.alive()):
            shutil.rmtree(candidate, ignore_errors=True)


def _process(found: dict[str, Any] | None) -> ProcessId | None:
    return None if found is None else ProcessId(**found)
