"""Records in and out of a broker, and waiting for them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, IsolationLevel, Producer, TopicPartition
from confluent_kafka.admin import OffsetSpec

from tidemill.kafka.admin import Admin
from tidemill.kafka.clients import producer_config
from tidemill.kafka.embedded import Cluster
from tidemill.kafka.groups import committed
from tidemill.kafka.settings import Settings


@dataclass(frozen=True)
class Read:
    """A record as a reader sees it."""

    key: bytes | None
    value: bytes | None
    partition: int
    timestamp: int
    headers: tuple[tuple[str, bytes | None], ...]


class Broker:
    """Records in and out of the shared broker."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.servers = cluster.bootstrap_servers
        self.settings = Settings.of(cluster.client_config())
        self.admin = Admin(self.settings)
        self._producer = Producer(producer_config(self.settings))

    def produce(self, topic: str, records: Iterable[dict[str, Any]]) -> None:
        for record in records:
            self._producer.produce(topic, **record)
            self._producer.poll(0)
        assert self._producer.flush(30) == 0

    def read(self, topic: str, *, isolation: str = "read_committed") -> list[Read]:
        """Everything in a topic, partition by partition."""
        parts = [part.id for part in self.admin.topic(topic).partitions]
        self._settle([TopicPartition(topic, part) for part in parts])
        consumer = Consumer(
            {
                **self.settings.librdkafka(),
                "group.id": uuid.uuid4().hex,
                "isolation.level": isolation,
                "enable.partition.eof": True,
                "enable.auto.commit": False,
            }
        )
        consumer.assign([TopicPartition(topic, part, 0) for part in parts])
        found: list[Read] = []
        ends: set[int] = set()
        deadline = time.monotonic() + 30
        while len(ends) < len(parts):
            assert time.monotonic() < deadline, f"{topic} was not read to its end"
            message = consumer.poll(0.2)
            if message is None:
                continue
            if message.error():
                ends.add(message.partition())
                continue
            headers = tuple(message.headers() or ())
            found.append(
                Read(message.key(), message.value(), message.partition(), message.timestamp()[1], headers)
            )
        consumer.close()
        return found

    def _settle(self, partitions: list[TopicPartition]) -> None:
        """Wait for the ends of transactions: a commit returns before its marks are in the partitions."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            ends = [
                self.admin.raw.list_offsets(
                    {partition: OffsetSpec.latest() for partition in partitions}, isolation_level=level
                )
                for level in (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED)
            ]
            committed_ends, all_ends = ([future.result().offset for future in end.values()] for end in ends)
            if committed_ends == all_ends:
                return
            time.sleep(0.05)

    def group(self, name: str) -> dict[tuple[str, int], int]:
        return committed(self.admin, name)


def until(condition: Callable[[], Any], seconds: float = 30.0) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
