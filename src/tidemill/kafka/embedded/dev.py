"""Named development clusters: started in one terminal, found, looked at and stopped from any other."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tidemill.errors import NotFound, SetupError, UsageError
from tidemill.kafka.embedded.cluster import Cluster
from tidemill.kafka.embedded.jvm import Runtime
from tidemill.kafka.embedded.layout import Layout
from tidemill.kafka.embedded.node import STOP_SECONDS, Node
from tidemill.kafka.embedded.ports import HOST
from tidemill.kafka.embedded.security import Profile
from tidemill.kafka.embedded.state import State, read_state
from tidemill.kafka.jars import fetch
from tidemill.kafka.java import find_java
from tidemill.kafka.paths import data_dir as base_dir
from tidemill.kafka.private import write_private
from tidemill.kafka.progress import Progress

DEFAULT_NAME = "default"
DEFAULT_PORT = 9092


@dataclass(frozen=True)
class BrokerStatus:
    """One broker of a development cluster."""

    broker: int
    port: int | None
    pid: int | None
    resident_bytes: int

    @property
    def running(self) -> bool:
        return self.pid is not None


@dataclass(frozen=True)
class DevStatus:
    """A development cluster as it is now; `absent` when it was never started or was purged."""

    name: str
    state: Literal["running", "partial", "stopped", "absent"]
    directory: Path
    cluster_id: str | None = None
    secure: str | None = None
    detached: bool = False
    bootstrap_servers: str | None = None
    brokers: tuple[BrokerStatus, ...] = ()

    @property
    def running(self) -> bool:
        return self.state in ("running", "partial")


def dev_up(
    name: str = DEFAULT_NAME,
    *,
    brokers: int | None = None,
    port: int | None = DEFAULT_PORT,
    secure: Profile | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    detach: bool = False,
    auto_create_topics: bool = True,
) -> Cluster:
    """Start a development cluster; its records stay when it stops.

    Without `brokers`, as many as it had before, or one. Detached brokers go on when this process ends;
    otherwise the caller keeps the `Cluster`, waits on it and stops it. `port=None` takes any free ports.
    """
    home = _home(name)
    with _lock(home):
        directory = Path(data_dir).expanduser().absolute() if data_dir is not None else _directory(home)
        known = read_state(Layout(directory))
        if known is not None and known.running:
            raise SetupError(
                f"the development cluster `{name}` runs already",
                where=_bootstrap(known),
                remedy=f"`tidemill dev down{'' if name == DEFAULT_NAME else f' --name {name}'}` stops it",
            )
        cluster = Cluster(
            brokers or (len(known.nodes) if known else 1),
            port=port,
            secure=secure,
            data_dir=directory,
            name=name,
            auto_create_topics=auto_create_topics,
            detach=detach,
        )
        cluster.start()
        write_private(home / "location.json", json.dumps({"directory": str(directory)}) + "\n")
        return cluster


def dev_down(name: str = DEFAULT_NAME, *, purge: bool = False) -> DevStatus:
    """Stop a development cluster and, with `purge`, delete its records; gives what it was before."""
    home = _home(name)
    before = dev_status(name)
    if before.state == "absent" or (before.state == "stopped" and not purge):
        raise NotFound(
            f"no development cluster `{name}` runs"
            if before.state == "stopped"
            else f"there is no development cluster `{name}`",
            where=str(before.directory),
            remedy="`tidemill dev up` starts one",
        )
    layout = Layout(before.directory)
    with _lock(home):
        state = read_state(layout)
        if state is not None:
            _halt(state, layout)
        if purge:
            layout.remove()
            (home / "location.json").unlink(missing_ok=True)
    return before


def dev_status(name: str = DEFAULT_NAME) -> DevStatus:
    """How a development cluster is."""
    directory = _directory(_home(name))
    state = read_state(Layout(directory))
    if state is None:
        return DevStatus(name, "absent", directory)
    brokers = tuple(
        BrokerStatus(
            node.node,
            node.ports.get("plaintext"),
            node.process.pid if node.process and node.alive else None,
            node.process.resident_bytes() if node.process and node.alive else 0,
        )
        for node in state.nodes
    )
    alive = sum(broker.running for broker in brokers)
    return DevStatus(
        name,
        "stopped" if alive == 0 else "running" if alive == len(brokers) else "partial",
        directory,
        state.cluster_id,
        state.secure,
        state.detached,
        _bootstrap(state) if alive else None,
        brokers,
    )


def dev_fetch(progress: Progress | None = None) -> dict[str, list[Path]]:
    """Get everything that is otherwise fetched at the first use: the jars, and the class archive.

    The archive halves the start of a broker; it is made by running one once.
    """
    found = fetch(("kafka-broker", "spark-kafka"), progress)
    runtime = Runtime(find_java(), tuple(found["kafka-broker"]))
    if not runtime.archive.is_file():
        with Cluster(name="fetch"):
            pass
    return found


def dev_names() -> list[str]:
    """The development clusters that were started on this machine and not purged."""
    try:
        return sorted(entry.parent.name for entry in (base_dir() / "dev").glob("*/location.json"))
    except OSError:
        return []


def dev_cluster(name: str = DEFAULT_NAME) -> Cluster:
    """A running development cluster, for its client settings."""
    status = dev_status(name)
    if not status.running:
        raise NotFound(f"no development cluster `{name}` runs", remedy="`tidemill dev up` starts one")
    return Cluster.attach(status.directory)


def dev_log_files(name: str = DEFAULT_NAME) -> list[Path]:
    """The log files of its brokers, in their order."""
    status = dev_status(name)
    layout = Layout(status.directory)
    return [file for broker in status.brokers if (file := layout.log(broker.broker)).exists()]


def _home(name: str) -> Path:
    """What is known under this name; also where the records are, unless another directory was asked for."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", name):
        raise UsageError(
            f"`{name}` cannot name a development cluster",
            remedy="use letters, digits, `.`, `_` and `-`",
        )
    return base_dir() / "dev" / name


def _directory(home: Path) -> Path:
    try:
        return Path(json.loads((home / "location.json").read_text(encoding="utf-8"))["directory"])
    except (OSError, ValueError, KeyError, TypeError):
        return home / "cluster"


def _bootstrap(state: State) -> str:
    return ",".join(f"{HOST}:{node.ports['plaintext']}" for node in state.nodes if "plaintext" in node.ports)


def _halt(state: State, layout: Layout) -> None:
    nodes: Sequence[Node] = [Node(node, layout) for node in state.nodes]
    for node in nodes:
        node.signal_stop()
    for node in nodes:
        node.await_stop(STOP_SECONDS)
    for one in state.nodes:
        one.process = None
    state.write(layout)


@contextmanager
def _lock(home: Path) -> Iterator[None]:
    """One start or stop of a cluster at a time."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (home / "lock").open("w")
    except OSError as error:
        raise SetupError(
            f"the state of the development cluster cannot be written: {error.strerror or error}",
            where=str(home),
            remedy="make the directory writable, or set TIDEMILL_DATA_DIR to one that is",
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
