"""The brokers of one cluster together: their directory, ports and processes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tidemill.errors import SetupError
from tidemill.kafka.embedded.format import format_directory, new_id
from tidemill.kafka.embedded.jvm import Recording, Runtime, logging_config
from tidemill.kafka.embedded.layout import Layout
from tidemill.kafka.embedded.node import STOP_SECONDS, Node
from tidemill.kafka.embedded.pids import ProcessId
from tidemill.kafka.embedded.ports import Reservation
from tidemill.kafka.embedded.properties import CONTROLLER, Load, as_text, server_properties
from tidemill.kafka.embedded.security import Profile, Security
from tidemill.kafka.embedded.state import NodeState, State, read_state, temporary_directory
from tidemill.kafka.jars import resolve
from tidemill.kafka.java import find_java
from tidemill.kafka.private import write_private


@dataclass(frozen=True)
class Settings:
    """What was asked for."""

    name: str
    brokers: int
    port: int | None = None
    secure: Profile | None = None
    data_dir: Path | None = None
    auto_create_topics: bool = False
    heap: str = "192m"
    load: Load = "dev"
    detach: bool = False
    config: Mapping[str, str] = field(default_factory=dict)


class PortTakenError(SetupError):
    """A port that was free a moment ago is not any more."""


class Brokers:
    """The brokers below one directory, running or not."""

    def __init__(self, settings: Settings, layout: Layout, state: State) -> None:
        self.settings = settings
        self.layout = layout
        self.state = state
        self.security = Security.prepare(settings.secure, layout.security)
        self.nodes = {node.node: Node(node, layout) for node in state.nodes}
        self._recording: Recording | None = None

    @classmethod
    def prepare(cls, settings: Settings) -> Brokers:
        """Those of a directory that is formatted if it is new; what an earlier run left there is kept."""
        if not Path("/proc/self/stat").exists():
            raise SetupError(
                "the embedded Kafka runs on Linux only",
                remedy="use a Kafka elsewhere through bootstrap servers, or a Linux machine or container",
            )
        layout = Layout(settings.data_dir or temporary_directory())
        with _disk_errors(layout.root):
            layout.create()
            state = read_state(layout) or State(settings.name, new_id())
            state.nodes = state.nodes or [NodeState(number) for number in range(1, settings.brokers + 1)]
            if state.running:
                raise SetupError(
                    f"the cluster `{state.name}` runs in this directory already",
                    where=str(layout.root),
                    remedy="stop it first, or choose another directory",
                )
            if len(state.nodes) != settings.brokers:
                raise SetupError(
                    f"the directory holds a cluster of {len(state.nodes)} brokers, not of {settings.brokers}",
                    where=str(layout.root),
                    remedy="start it with as many brokers, or remove the directory",
                )
            state.name, state.secure, state.detached = settings.name, settings.secure, settings.detach
            state.owner = ProcessId.of(os.getpid())
            for node in state.nodes:
                node.process = None
                format_directory(layout.data(node.node), state.cluster_id, node.node)
            return cls(settings, layout, state)

    def launch(self) -> None:
        """Start every broker, on free ports."""
        reservation = Reservation()
        try:
            for index, state in enumerate(self.state.nodes):
                state.ports = {
                    listener: self._port(reservation, listener, index, state.ports)
                    for listener in (*self.security.doors, CONTROLLER)
                }
        finally:
            reservation.release()
        for node in self.nodes.values():
            self._configure(node)
        self.launch_nodes(list(self.nodes.values()))

    def launch_nodes(self, nodes: Sequence[Node]) -> None:
        """Start some of the brokers, as they were configured when the cluster was launched."""
        runtime = Runtime(find_java(), tuple(resolve("kafka-broker")))
        if self._recording is None and not self.settings.detach and self.settings.load == "dev":
            self._recording = Recording(runtime)
        for node in nodes:
            recorded = self._recording.file if self._recording and node.number == 1 else None
            command = runtime.command(
                self.layout.properties(node.number),
                self.layout.logging(node.number),
                load=self.settings.load,
                heap=self.settings.heap,
                record=recorded,
            )
            with _disk_errors(self.layout.root):
                node.start(command, detached=self.settings.detach)
        self.write_state()

    def await_ready(self, nodes: Sequence[Node], timeout: float) -> None:
        """Wait until these brokers serve and see all that run."""
        end = time.monotonic() + timeout
        running = sum(node.process is not None for node in self.nodes.values())
        waiting = list(nodes)
        while True:
            obstacles = {node: node.obstacle(self.state.cluster_id, running) for node in waiting}
            waiting = [node for node in waiting if obstacles[node] is not None]
            if not waiting:
                break
            for node in waiting:
                if node.process is None:
                    kind = PortTakenError if node.clashed() else SetupError
                    raise self._failed(kind, node, "ended while it started")
            if time.monotonic() > end:
                node = waiting[0]
                raise self._failed(SetupError, node, f"is not ready after {timeout:g} s: {obstacles[node]}")
            time.sleep(0.03)
        for node in nodes:
            if lacking := node.shortcoming():
                raise self._failed(SetupError, node, f"cannot be used: {lacking}")

    def forget_ports(self) -> None:
        """Have the next launch choose other ports."""
        for node in self.state.nodes:
            node.ports = {}

    def halt(self) -> None:
        """Stop every broker that runs."""
        for node in self.nodes.values():
            node.signal_stop()
        clean = [node.await_stop(self._patience(node)) for node in self.nodes.values()]
        if self._recording is not None:
            self._recording.end(whole=clean[0])
            self._recording = None
        if self.layout.state.exists():  # else another process has purged the cluster
            self.write_state()

    def write_state(self) -> None:
        """Let other processes know."""
        for node in self.state.nodes:
            if not node.alive:
                node.process = None
        with _disk_errors(self.layout.root):
            self.state.write(self.layout)

    def _port(self, reservation: Reservation, listener: str, index: int, kept: Mapping[str, int]) -> int:
        if listener == "plaintext" and self.settings.port is not None:
            return reservation.fixed(self.settings.port + index)
        # An address that clients may know is kept over a restart, if nobody took it meanwhile.
        return reservation.free(kept.get(listener))

    def _configure(self, node: Node) -> None:
        properties = server_properties(
            node.number,
            {one.node: one.ports for one in self.state.nodes},
            self.layout,
            self.security,
            auto_create_topics=self.settings.auto_create_topics,
            load=self.settings.load,
            extra=self.settings.config,
        )
        with _disk_errors(self.layout.root):
            write_private(self.layout.properties(node.number), as_text(properties))
            write_private(self.layout.logging(node.number), logging_config(self.layout.log(node.number)))

    def _patience(self, node: Node) -> float:
        """How long a broker may take to stop."""
        if node.number == 1 and self._recording is not None and self._recording.file is not None:
            return 3 * STOP_SECONDS  # it writes the class archive
        if self.settings.data_dir is None and len(self.nodes) > 1:
            return 2.0  # the last ones wait in vain for a quorum, and the data goes anyway
        return STOP_SECONDS

    def _failed(self, kind: type[SetupError], node: Node, what: str) -> SetupError:
        return kind(
            f"broker {node.number} of `{self.state.name}` {what}",
            where=f"{self.layout.node(node.number)}; the end of its log:\n{node.tail(15) or '(empty)'}\n",
            remedy="the log names the cause",
        )


@contextmanager
def _disk_errors(directory: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SetupError(
            f"the cluster's files cannot be written: {error.strerror or error}",
            where=str(error.filename or directory),
            remedy="make the directory writable or free some space",
        ) from error
