"""A real Kafka cluster of 1..N brokers on this machine, for tests and development."""

from __future__ import annotations

import atexit
import os
import shutil
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from tidemill.errors import NotFound, SetupError, UsageError
from tidemill.kafka.embedded.brokers import Brokers, PortTakenError, Settings
from tidemill.kafka.embedded.layout import Layout
from tidemill.kafka.embedded.node import Node
from tidemill.kafka.embedded.pids import ProcessId
from tidemill.kafka.embedded.ports import HOST
from tidemill.kafka.embedded.properties import Load
from tidemill.kafka.embedded.security import ADMIN, ClientConfig, Door, Profile
from tidemill.kafka.embedded.state import read_state

START_SECONDS = 60.0


class Cluster:
    """Kafka (KRaft) on the loopback interface.

    ```python
    with Cluster(brokers=3) as kafka:
        producer = Producer(kafka.client_config())
        kafka.kill(2)
    ```

    Brokers are numbered from 1 and end with this process unless `detach` is set. Without `data_dir` the
    records are deleted at `stop`. With `port`, broker 1 listens there and the others on the ports after it.
    `secure` adds listeners with logins and turns authorization on: see `tidemill.kafka.embedded.security`.
    `config` holds further broker settings.
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
        self._settings = Settings(
            name=name,
            brokers=brokers,
            port=port,
            secure=secure,
            data_dir=None if data_dir is None else Path(data_dir).expanduser().absolute(),
            auto_create_topics=auto_create_topics,
            heap=heap or {"dev": "192m", "bench": "1g"}[profile],
            load=profile,
            detach=detach,
            config=dict(config or {}),
        )
        self._owner = os.getpid()
        self._brokers: Brokers | None = None

    @classmethod
    def attach(cls, data_dir: str | os.PathLike[str]) -> Cluster:
        """The cluster that another process runs in this directory."""
        layout = Layout(Path(data_dir).expanduser().absolute())
        state = read_state(layout)
        if state is None:
            raise NotFound("there is no cluster in this directory", where=str(layout.root))
        secure = cast("Profile | None", state.secure)
        cluster = cls(
            len(state.nodes), secure=secure, data_dir=layout.root, name=state.name, detach=state.detached
        )
        cluster._brokers = Brokers(cluster._settings, layout, state)
        return cluster

    def start(self, timeout: float = START_SECONDS) -> Self:
        """Start all brokers and wait until every one serves and sees the others."""
        if self.running:
            raise UsageError(f"the cluster `{self.name}` runs already", where=self.bootstrap_servers)
        self._brokers = brokers = Brokers.prepare(self._settings)
        _started.add(self)
        try:
            self._launch(brokers, timeout)
            if self.secure is not None:
                self._grant(brokers)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop all brokers in order and delete what is temporary. Does nothing on a stopped cluster."""
        _started.discard(self)
        if self._brokers is None:
            return
        self._brokers.halt()
        if self._settings.data_dir is None:
            shutil.rmtree(self._brokers.layout.root, ignore_errors=True)
            self._brokers = None

    def wait(self) -> None:
        """Return when no broker runs any more, such as when another process stopped them."""
        while self.running:
            time.sleep(0.2)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def kill(self, broker: int = 1) -> None:
        """End a broker at once (`kill -9`)."""
        self._node(broker).kill()
        self._known.write_state()

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
        self._known.write_state()

    def start_broker(self, broker: int = 1, timeout: float = START_SECONDS) -> None:
        """Start a broker that was stopped or killed, on its old ports and data; wait until it serves."""
        node = self._node(broker)
        if node.process is not None:
            raise UsageError(f"broker {broker} runs already", where=f"pid {node.process.pid}")
        self._known.launch_nodes([node])
        self._known.await_ready([node], timeout)

    def restart(self, broker: int = 1, timeout: float = START_SECONDS) -> None:
        """Stop a broker, if it runs, and start it again."""
        self.stop_broker(broker)
        self.start_broker(broker, timeout)

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def brokers(self) -> int:
        """How many it has."""
        return self._settings.brokers

    @property
    def secure(self) -> Profile | None:
        return self._settings.secure

    @property
    def running(self) -> bool:
        """Whether any broker runs."""
        return bool(self.processes)

    @property
    def cluster_id(self) -> str:
        return self._known.state.cluster_id

    @property
    def directory(self) -> Path:
        """Where its files are."""
        return self._known.layout.root

    @property
    def bootstrap_servers(self) -> str:
        """The addresses without login. A secured cluster grants nothing there: use `client_config`."""
        return self.addresses("plaintext")

    def addresses(self, protocol: Door) -> str:
        """The addresses of one kind of listener."""
        doors = self._known.security.doors
        if protocol not in doors:
            raise UsageError(f"there is no `{protocol}` listener", remedy=f"use one of {', '.join(doors)}")
        return ",".join(f"{HOST}:{node.ports[protocol]}" for node in self._known.state.nodes)

    def client_config(
        self, user: str = ADMIN, protocol: Door | None = None, mechanism: str | None = None
    ) -> ClientConfig:
        """The settings of a librdkafka (confluent_kafka) client that logs in as `user`."""
        security = self._known.security
        door = protocol or security.default_door
        return {
            "bootstrap.servers": self.addresses(door),
            **security.client_config(door, user, mechanism),
        }

    def java_client_config(
        self, user: str = ADMIN, protocol: Door | None = None, mechanism: str | None = None
    ) -> dict[str, str]:
        """The same for a client on the JVM, such as Spark's."""
        security = self._known.security
        door = protocol or security.default_door
        return {
            "bootstrap.servers": self.addresses(door),
            **security.java_client_config(door, user, mechanism),
        }

    @property
    def passwords(self) -> Mapping[str, str]:
        """The passwords of a secured cluster's users."""
        return self._known.security.passwords

    @property
    def pids(self) -> dict[int, int]:
        """The pids of the brokers that run, by broker."""
        return {number: process.pid for number, process in self.processes.items()}

    @property
    def processes(self) -> dict[int, ProcessId]:
        """The same, safe against reused pids."""
        nodes = self._brokers.nodes if self._brokers else {}
        found = ((number, node.process) for number, node in nodes.items())
        return {number: process for number, process in found if process is not None}

    @property
    def log_files(self) -> list[Path]:
        """The log of every broker."""
        return [self._known.layout.log(number) for number in self._known.nodes]

    def logs_tail(self, lines: int = 20) -> str:
        """The end of every broker's log."""
        nodes = self._known.nodes
        return "\n".join(f"broker {number}:\n{node.tail(lines)}" for number, node in nodes.items())

    def _launch(self, brokers: Brokers, timeout: float) -> None:
        for attempts_left in (2, 1, 0):
            brokers.launch()
            try:
                brokers.await_ready(list(brokers.nodes.values()), timeout)
                break
            except PortTakenError:
                if not attempts_left:
                    raise
                brokers.halt()
                brokers.forget_ports()

    def _grant(self, brokers: Brokers) -> None:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        try:
            brokers.security.grant(AdminClient(self.client_config(protocol="sasl")))
        except (KafkaException, TimeoutError) as error:
            raise SetupError(
                f"the users of `{self.name}` could not be given their rights: {error}",
                where=self.addresses("sasl"),
                remedy="try again; the brokers' logs may name the cause",
            ) from error

    def _node(self, broker: int) -> Node:
        nodes = self._known.nodes
        if broker not in nodes:
            raise UsageError(f"there is no broker {broker}", remedy=f"use one of {list(nodes)}")
        return nodes[broker]

    @property
    def _known(self) -> Brokers:
        if self._brokers is None:
            raise UsageError(
                f"the cluster `{self.name}` is not started", remedy="call start(), or use `with`"
            )
        return self._brokers


_started: weakref.WeakSet[Cluster] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for cluster in list(_started):
        # A forked child inherits the list, but not the clusters.
        if not cluster._settings.detach and cluster._owner == os.getpid():
            cluster.stop()
