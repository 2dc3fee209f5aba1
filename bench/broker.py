"""The broker of a run: inputs that are written once, and topics that come and go."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import IsolationLevel, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # its stubs export too little
    AdminClient,
    NewTopic,
    OffsetSpec,
)

from bench.answers import SILENT
from bench.data import INPUT, Dataset, Record
from tidemill.kafka.embedded import Cluster

_FOREVER = {"retention.ms": "-1", "segment.bytes": str(256 << 20)}
_SECONDS = 60.0
_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class Broker:
    """A broker on this machine whose inputs survive from one run to the next."""

    def __init__(self, folder: Path, cluster: Cluster | None = None) -> None:
        """Over the data in `folder`, unless a cluster is given that runs already and goes on to."""
        self._own = cluster is None
        self._cluster = cluster or Cluster(name="bench", profile="bench", data_dir=folder)
        self._admin: AdminClient

    def __enter__(self) -> Self:
        self.revive()
        return self

    def revive(self) -> None:
        """Start the broker unless it runs: one that died must not cost the measurements still to come."""
        if self._own and not self._cluster.running:
            self._cluster.start()
        self._admin = AdminClient({"bootstrap.servers": self.address, **SILENT})

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own:
            self._cluster.stop()

    @property
    def address(self) -> str:
        """The bootstrap server."""
        return self._cluster.bootstrap_servers

    @property
    def pids(self) -> list[int]:
        """The processes of the broker."""
        return list(self._cluster.pids.values())

    def ensure(self, data: Dataset, partitions: int) -> str:
        """The topic that holds a dataset, written now unless it is there already."""
        topic = f"{data.name}-{partitions}"
        if topic in self.topics():
            if sum(self.ends(topic).values()) == data.records:
                return topic
            self.delete([topic])
        self.create(topic, partitions, {"compression.type": "lz4"})
        self.produce(topic, partitions, data.rows())
        if (written := sum(self.ends(topic).values())) != data.records:
            raise RuntimeError(f"{topic} holds {written} records instead of {data.records}")
        return topic

    def produce(self, topic: str, partitions: int, rows: Iterable[Record]) -> None:
        """Write records as fast as they come; a key chooses its partition as in Java clients."""
        producer = Producer(
            {
                "bootstrap.servers": self.address,
                **SILENT,
                "enable.idempotence": True,
                "partitioner": "murmur2_random",
                "compression.type": "lz4",
                "linger.ms": 50,
                "batch.size": 1 << 18,
                "batch.num.messages": 20_000,
                "queue.buffering.max.messages": 500_000,
            }
        )
        for key, value, at, partition in rows:
            place = -1 if partition < 0 else partition % partitions
            while True:
                try:
                    producer.produce(topic, value, key, place, timestamp=at)
                    break
                except BufferError:
                    producer.poll(0.05)
        if producer.flush(_SECONDS):
            raise RuntimeError(f"the records of {topic} could not be written in time")

    def create(self, topic: str, partitions: int, config: Mapping[str, str] | None = None) -> None:
        """Create a topic that keeps everything."""
        new = NewTopic(topic, partitions, 1, config={**_FOREVER, **(config or {})})
        self._admin.create_topics([new])[topic].result(_SECONDS)
        deadline = time.monotonic() + _SECONDS
        while not self._serves(topic, partitions):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{topic} was not created in time")
            time.sleep(0.05)

    def _serves(self, topic: str, partitions: int) -> bool:
        try:
            return len(self.ends(topic)) == partitions
        except KafkaException:
            return False

    def delete(self, topics: Iterable[str]) -> None:
        """Delete topics, and wait until they are gone."""
        names = list(topics)
        if not names:
            return
        for future in self._admin.delete_topics(names).values():
            future.result(_SECONDS)
        deadline = time.monotonic() + _SECONDS
        while set(names) & self.topics():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{', '.join(names)} could not be deleted in time")
            time.sleep(0.05)

    def sweep(self, name: str) -> None:
        """Delete every topic of an application."""
        self.delete(topic for topic in self.topics() if name in topic)

    def keep_inputs(self) -> None:
        """Delete every topic but the inputs."""
        self.delete(topic for topic in self.topics() if not topic.startswith((INPUT, "__")))

    def topics(self) -> set[str]:
        """The names of all topics."""
        return set(self._admin.list_topics(timeout=_SECONDS).topics)

    def ends(self, topic: str) -> dict[int, int]:
        """The end offset of every partition."""
        known = self._admin.list_topics(topic, timeout=_SECONDS).topics[topic]
        if known.error is not None:
            raise KafkaException(known.error)
        asked = {TopicPartition(topic, part): _LATEST for part in known.partitions}
        for patience in range(20, -1, -1):
            answers = self._admin.list_offsets(asked, request_timeout=_SECONDS)
            try:
                return {place.partition: answer.result(_SECONDS).offset for place, answer in answers.items()}
            except KafkaException:
                # A broker that has just been started may not lead its partitions yet.
                if not patience:
                    raise
                time.sleep(0.25)
        raise AssertionError("the last attempt returns or raises")

    def committed_ends(self, topic: str) -> int:
        """How many offsets of a topic a reader of committed records can see."""
        known = self._admin.list_topics(topic, timeout=_SECONDS).topics[topic]
        asked = {TopicPartition(topic, part): _LATEST for part in known.partitions}
        answers = self._admin.list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED)
        return sum(answer.result(_SECONDS).offset for answer in answers.values())
