"""The configuration of one broker: small, quick to start, on the loopback interface only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tidemill.kafka.embedded.layout import Layout
from tidemill.kafka.embedded.ports import HOST
from tidemill.kafka.embedded.security import LISTENER_PROTOCOLS, Security

Load = Literal["dev", "bench"]
"""`dev` wants little memory and a quick start, `bench` throughput."""

CONTROLLER = "controller"


def server_properties(
    node: int,
    ports: Mapping[int, Mapping[str, int]],
    layout: Layout,
    security: Security,
    *,
    auto_create_topics: bool,
    load: Load,
    extra: Mapping[str, str],
) -> dict[str, str]:
    """The settings of broker `node`; `ports` holds those of every node by listener."""
    brokers = len(ports)
    replicas = min(3, brokers)
    in_sync = max(1, replicas - 1)
    secured = security.profile is not None
    protocols = {door: LISTENER_PROTOCOLS[door] for door in security.doors}
    own = ports[node]
    client_listeners = [f"{door.upper()}://{HOST}:{own[door]}" for door in security.doors]
    return {
        "process.roles": "broker,controller",
        "node.id": str(node),
        "controller.quorum.voters": ",".join(f"{n}@{HOST}:{p[CONTROLLER]}" for n, p in ports.items()),
        "controller.listener.names": "CONTROLLER",
        "listeners": ",".join([*client_listeners, f"CONTROLLER://{HOST}:{own[CONTROLLER]}"]),
        "advertised.listeners": ",".join(client_listeners),
        "listener.security.protocol.map": ",".join(
            [f"{door.upper()}:{protocol}" for door, protocol in protocols.items()]
            + [f"CONTROLLER:{'SASL_PLAINTEXT' if secured else 'PLAINTEXT'}"]
        ),
        "inter.broker.listener.name": "SASL" if secured else "PLAINTEXT",
        "log.dirs": str(layout.data(node)),
        "auto.create.topics.enable": str(auto_create_topics).lower(),
        "default.replication.factor": str(replicas),
        "min.insync.replicas": str(in_sync),
        "offsets.topic.replication.factor": str(replicas),
        "offsets.topic.num.partitions": str(brokers),
        "transaction.state.log.replication.factor": str(replicas),
        "transaction.state.log.min.isr": str(in_sync),
        "transaction.state.log.num.partitions": str(brokers),
        "share.coordinator.state.topic.replication.factor": str(replicas),
        "share.coordinator.state.topic.min.isr": str(in_sync),
        "share.coordinator.state.topic.num.partitions": str(brokers),
        "group.initial.rebalance.delay.ms": "0",
        # Records may bear times of long ago, and are meant to stay all the same: see `log.retention.bytes`.
        "log.retention.ms": "-1",
        "log.segment.bytes": str(64 << 20),
        # 128 MiB of heap at the start by default: the largest single saving.
        "log.cleaner.dedupe.buffer.size": str(4 << 20),
        "log.cleaner.io.buffer.size": str(256 << 10),
        "log.index.size.max.bytes": str(1 << 20),
        # The active controller writes an empty record every half second by default: most of the idle load.
        "metadata.max.idle.interval.ms": "5000",
        # Nobody reads them over JMX.
        "metric.reporters": "",
        **_LOADS[load],
        **security.server_properties(),
        **extra,
    }


def as_text(properties: Mapping[str, str]) -> str:
    """Java's properties format."""
    return "".join(f"{key}={_escaped(value)}\n" for key, value in properties.items())


_LOADS: Mapping[Load, Mapping[str, str]] = {
    "dev": {
        "log.retention.bytes": str(1 << 30),
        "background.threads": "2",
        "num.network.threads": "2",
        "num.io.threads": "2",
        "num.replica.fetchers": "1",
        "num.recovery.threads.per.data.dir": "1",
    },
    "bench": {},
}


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")
