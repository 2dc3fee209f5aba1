"""A real Kafka cluster of 1..N brokers on this machine, for tests and development."""

from __future__ import annotations

import atexit
import os
import shutil
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from tidemill.errors import SetupError, UsageError
from tidemill.kafka.embedded.format import format_directory, new_id
from tidemill.kafka.embedded.jvm import Recording, Runtime, logging_config
from tidemill.kafka.embedded.layout import Layout
from tidemill.kafka.embedded.node import STOP_SECONDS, Node
from tidemill.kafka.embedded.pids import ProcessId
from tidemill.kafka.embedded.ports import HOST, Reservation
from tidemill.kafka.embedded.properties import CONTROLLER, Load, as_text, server_properties
from tidemill.kafka.embedded.security import ADMIN, ClientConfig, Door, Profile, Security
from tidemill.kafka.embedded.state import NodeState, State, read_state, temporary_directory
from tidemill.kafka.jars import resolve
from tidemill.kafka.java import find_java
from tidemill.kafka.private import write_private

START_SECONDS = 60.0


class Cluster:
    """Kafka (KRaft) on the loopback interface.

    ```python
    with Cluster(brokers=3) as kafka:
        producer = Producer(kafka.client_config())
        kafka.kill(2)
    ```

    Brokers are numbered from 1 and end with this process unless `detach` is set. Without `data_dir` the
    records are deleted at `stop`. With `port`, broker 1 listens there and the others on the ports
    after it. `secure` adds listeners with logins and turns authorization on: see
    `tidemill.kafka.embedded.security`. `config` holds further broker settings.
    """

    def __init__(
        self,
        brokers: int = 1,
        *,
        port: int | None = None,
        secure: Profile | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        name: str = "embedded",
        auto_create_topics: bool = False,
        heap: str | None = None,
        profile: Load = "dev",
        detach: bool = False,
        config: Mapping[str, str] | None = None,
    ) -> None:
        if brokers < 1:
            raise UsageError(f"a cluster has at least one broker, not {brokers}")
        self.name = name
        self._brokers = brokers
        self._port = port
        self._secure = secure
        self._data_dir = None if data_dir is None else Path(data_dir).expanduser().absolute()
        self._auto_create_topics = auto_create_topics
        self._load: Load = profile
        self._heap = heap or {"dev": "192m", "bench": "1g"}[profile]
        self._detach = detach
        self._config = dict(config or {})
        self._owner = os.getpid()
        self._state: State | None = None
        self._layout: Layout | None = None
        self._security: Security | None = None
        self._nodes: dict[int, Node] = {}
        self._runtime: Runtime | None = None
        self._recording: Recording | None = None

    @classmethod
    def attach(cls, data_dir: str | os.PathLike[str]) -> Cluster:
        """The cluster that another process runs in this directory."""
        layout = Layout(Path(data_dir).absolute())
        state = read_state(layout)
        if state is None:
            raise SetupError("there is no cluster in this directory", where=str(layout.root))
        profile: Profile | None = state.secure  # type: ignore[assignment]  # written by us
        cluster = cls(
            len(state.nodes), secure=profile, data_dir=data_dir, name=state.name, detach=state.detached
        )
        cluster._adopt(layout, state)
        return cluster

    def start(self, timeout: float = START_SECONDS) -> Self:
        """Start all brokers and wait until every one serves and sees the others."""
        if self.running:
            raise UsageError(f"the cluster `{self.name}` runs already", where=self.bootstrap_servers)
        self._runtime = Runtime(find_java(), tuple(resolve("kafka-broker")))
        self._prepare()
        _started.add(self)
        try:
            attempts = 3
            while True:
                attempts -= 1
                self._launch_all()
                try:
                    self._await_ready(timeout, list(self._nodes.values()))
                    break
                except _PortTakenError:
                    self._halt()
                    if attempts == 0 or self._port is not None:
                        raise
                    for node in self._nodes.values():
                        node.state.ports.clear()
            self._grant()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop all brokers in order and delete what is temporary. Does nothing on a stopped cluster."""
        _started.discard(self)
        self._halt()
        if self._data_dir is None and self._layout is not None:
            shutil.rmtree(self._layout.root, ignore_errors=True)
            self._layout = self._state = self._security = None
            self._nodes = {}

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def kill(self, broker: int = 1) -> None:
        """End a broker at once (`kill -9`)."""
        self._node(broker).kill()
        self._write_state()

    def pause(self, broker: int = 1) -> None:
        """Freeze a broker: its connections stay open but nothing is answered."""
        self._node(broker).pause()

    def resume(self, broker: int = 1) -> None:
        """Let a paused broker go on."""
        self._node(broker).resume()

    def stop_broker(self, broker: int = 1) -> None:
        """Stop a broker in order."""
        node = self._node(broker)
        node.signal_stop()
        node.await_stop()
        self._write_state()

    def start_broker(self, broker: int = 1, timeout: float = START_SECONDS) -> None:
        """Start a broker that was stopped or killed, on its old ports and data; wait until it serves."""
        node = self._node(broker)
        if node.process is not None:
            raise UsageError(f"broker {broker} runs already", where=f"pid {node.process.pid}")
        self._launch([node])
        self._await_ready(timeout, [node])

    def restart(self, broker: int = 1, timeout: float = START_SECONDS) -> None:
        """Stop a broker, if it runs, and start it again."""
        self.stop_broker(broker)
        self.start_broker(broker, timeout)

    @property
    def running(self) -> bool:
        return any(node.process is not None for node in self._nodes.values())

    @property
    def brokers(self) -> int:
        return self._brokers

    @property
    def cluster_id(self) -> str:
        return self._known().cluster_id

    @property
    def directory(self) -> Path:
        if self._layout is None:
            raise self._not_started()
        return self._layout.root

    @property
    def secure(self) -> Profile | None:
        return self._secure

    @property
    def bootstrap_servers(self) -> str:
        """The addresses without login. A secured cluster grants nothing there: use `client_config`."""
        return self.addresses("plaintext")

    def addresses(self, protocol: Door) -> str:
        """The addresses of one kind of listener."""
        nodes = self._known().nodes
        if protocol not in nodes[0].ports:
            doors = [name for name in nodes[0].ports if name != CONTROLLER]
            raise UsageError(f"there is no `{protocol}` listener", remedy=f"use one of {', '.join(doors)}")
        return ",".join(f"{HOST}:{node.ports[protocol]}" for node in nodes)

    def client_config(
        self, user: str = ADMIN, protocol: Door | None = None, mechanism: str | None = None
    ) -> ClientConfig:
        """The settings of a librdkafka (confluent_kafka) client that logs in as `user`."""
        security = self._secured()
        door = protocol or security.default_door
        return {
            "bootstrap.servers": self.addresses(door),
            **security.client_config(door, user, mechanism),
        }

    def java_client_config(
        self, user: str = ADMIN, protocol: Door | None = None, mechanism: str | None = None
    ) -> dict[str, str]:
        """The same for a client on the JVM, such as Spark's."""
        security = self._secured()
        door = protocol or security.default_door
        return {
            "bootstrap.servers": self.addresses(door),
            **security.java_client_config(door, user, mechanism),
        }

    @property
    def passwords(self) -> Mapping[str, str]:
        """The passwords of a secured cluster's users."""
        return self._secured().passwords

    @property
    def pids(self) -> dict[int, int]:
        """The running processes, by broker."""
        return {number: process.pid for number, process in self.processes.items()}

    @property
    def processes(self) -> dict[int, ProcessId]:
        """The same, safe against reused pids."""
        return {number: node.process for number, node in self._nodes.items() if node.process is not None}

    @property
    def log_files(self) -> list[Path]:
        """The log of every broker."""
        if self._layout is None:
            return []
        return [self._layout.log(number) for number in self._nodes]

    def logs_tail(self, lines: int = 20) -> str:
        """The end of every broker's log."""
        return "\n".join(f"broker {number}:\n{node.tail(lines)}" for number, node in self._nodes.items())

    def _prepare(self) -> None:
        """Directory, ids and secrets; what an earlier run left there is kept."""
        layout = Layout(self._data_dir or temporary_directory())
        with _disk_errors(layout.root):
            layout.create()
            state = read_state(layout)
            if state is None:
                nodes = [NodeState(number, {}) for number in range(1, self._brokers + 1)]
                state = State(
                    self.name, new_id(), self._secure, self._detach, ProcessId.of(os.getpid()), nodes
                )
            elif state.running:
                raise SetupError(
                    f"the cluster `{state.name}` runs in this directory already",
                    where=str(layout.root),
                    remedy="stop it first, or choose another directory",
                )
            elif len(state.nodes) != self._brokers:
                raise SetupError(
                    f"the directory holds a cluster of {len(state.nodes)} brokers, not of {self._brokers}",
                    where=str(layout.root),
                    remedy="start it with as many brokers, or remove the directory",
                )
            state.name, state.secure, state.detached = self.name, self._secure, self._detach
            state.owner = ProcessId.of(os.getpid())
            for node in state.nodes:
                node.process = None
                format_directory(layout.data(node.node), state.cluster_id, node.node)
            self._adopt(layout, state)

    def _adopt(self, layout: Layout, state: State) -> None:
        self._layout, self._state = layout, state
        self._security = Security.prepare(self._secure, layout.security)
        self._nodes = {node.node: Node(node, layout) for node in state.nodes}
        self._write_state()

    def _launch_all(self) -> None:
        security = self._secured()
        names = [*security.doors, CONTROLLER]
        reservation = Reservation()
        try:
            for index, node in enumerate(self._known().nodes):
                kept = node.ports if self._port is None else {}
                fixed = None if self._port is None else self._port + index
                node.ports = {name: self._port_for(reservation, name, fixed, kept) for name in names}
        finally:
            reservation.release()
        self._launch(list(self._nodes.values()))

    @staticmethod
    def _port_for(reservation: Reservation, name: str, fixed: int | None, kept: Mapping[str, int]) -> int:
        if fixed is not None and name == "plaintext":
            return reservation.fixed(fixed)
        # An address that clients may know is kept over a restart, if nobody took it meanwhile.
        return reservation.free(kept.get(name))

    def _launch(self, nodes: list[Node]) -> None:
        layout, security, runtime = self._laid_out(), self._secured(), self._running_on()
        ports = {node.node: node.ports for node in self._known().nodes}
        if self._recording is None and not self._detach and self._load == "dev":
            self._recording = Recording(runtime)
        for node in nodes:
            properties = server_properties(
                node.number,
                ports,
                layout,
                security,
                auto_create_topics=self._auto_create_topics,
                load=self._load,
                extra=self._config,
            )
            with _disk_errors(layout.root):
                write_private(layout.properties(node.number), as_text(properties))
                log = layout.log(node.number)
                write_private(layout.logging(node.number), logging_config(log))
            record = self._recording.file if self._recording and node.number == 1 else None
            command = runtime.command(
                layout.properties(node.number),
                layout.logging(node.number),
                load=self._load,
                heap=self._heap,
                record=record,
            )
            node.start(command, detached=self._detach)
        self._write_state()

    def _await_ready(self, timeout: float, nodes: list[Node]) -> None:
        end = time.monotonic() + timeout
        alive = sum(node.process is not None for node in self._nodes.values())
        waiting = list(nodes)
        while True:
            obstacles = {node: node.obstacle(self.cluster_id, alive) for node in waiting}
            waiting = [node for node in waiting if obstacles[node] is not None]
            if not waiting:
                return
            for node in waiting:
                if node.process is None:
                    if node.clashed():
                        raise _PortTakenError(node, self.directory)
                    raise self._failed(node, "ended while it started")
            if time.monotonic() > end:
                node = waiting[0]
                raise self._failed(node, f"did not come up in {timeout:g} s: {obstacles[node]}")
            time.sleep(0.03)

    def _grant(self) -> None:
        security = self._secured()
        if security.profile is None:
            return
        from confluent_kafka.admin import AdminClient

        security.grant(AdminClient(self.client_config(protocol="sasl")))

    def _halt(self) -> None:
        """Stop every broker that runs."""
        nodes = list(self._nodes.values())
        for node in nodes:
            node.signal_stop()
        clean = [node.await_stop(self._patience(node)) for node in nodes]
        if self._recording is not None:
            self._recording.end(whole=bool(clean and clean[0]))
            self._recording = None
        if self._layout is not None and self._layout.root.exists():
            self._write_state()

    def _patience(self, node: Node) -> float:
        """How long a broker may take to stop."""
        if node.number == 1 and self._recording is not None and self._recording.file is not None:
            return 3 * STOP_SECONDS  # it writes the class archive
        if self._data_dir is None and self._brokers > 1:
            return 2.0  # the last ones wait in vain for a quorum, and the data goes anyway
        return STOP_SECONDS

    def _write_state(self) -> None:
        if self._state is not None and self._layout is not None:
            for node in self._state.nodes:
                if not node.alive:
                    node.process = None
            with _disk_errors(self._layout.root):
                self._state.write(self._layout)

    def _node(self, broker: int) -> Node:
        if self._state is None:
            raise self._not_started()
        if broker not in self._nodes:
            raise UsageError(f"there is no broker {broker}", remedy=f"use one of {list(self._nodes)}")
        return self._nodes[broker]

    def _failed(self, node: Node, what: str) -> SetupError:
        return SetupError(
            f"broker {node.number} of `{self.name}` {what}",
            where=f"{self.directory}; the end of its log:\n{node.tail(15) or '(empty)'}",
            remedy="the log names the cause",
        )

    def _known(self) -> State:
        if self._state is None:
            raise self._not_started()
        return self._state

    def _laid_out(self) -> Layout:
        if self._layout is None:
            raise self._not_started()
        return self._layout

    def _secured(self) -> Security:
        if self._security is None:
            raise self._not_started()
        return self._security

    def _running_on(self) -> Runtime:
        if self._runtime is None:
            self._runtime = Runtime(find_java(), tuple(resolve("kafka-broker")))
        return self._runtime

    def _not_started(self) -> UsageError:
        return UsageError(f"the cluster `{self.name}` is not started", remedy="call start(), or use `with`")


class _PortTakenError(SetupError):
    def __init__(self, node: Node, directory: Path) -> None:
        super().__init__(
            f"broker {node.number} found a port taken that was free just before",
            where=str(directory),
            remedy="try again",
        )


_started: weakref.WeakSet[Cluster] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for cluster in list(_started):
        # A forked child inherits the list, but not the clusters.
        if not cluster._detach and cluster._owner == os.getpid():
            cluster.stop()


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
