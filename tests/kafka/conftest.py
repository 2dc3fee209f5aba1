"""Reading and writing records with the plain client, for tests of the broker itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer, TopicPartition

Write = Callable[..., list[Message]]
Read = Callable[..., list[Message]]


@pytest.fixture
def write() -> Write:
    """Produces values, waits for their acknowledgement and returns what was acknowledged."""

    def write(config: dict, topic: str, values: Iterable[str], **options: object) -> list[Message]:
        acknowledged: list[Message] = []
        failed: list[KafkaError] = []

        def arrived(error: KafkaError | None, message: Message) -> None:
            if error is None:
                acknowledged.append(message)
            else:
                failed.append(error)

        producer = Producer({**config, "acks": "all", "partitioner": "murmur2_random", **options})
        for value in values:
            producer.produce(topic, value, on_delivery=arrived)
        assert producer.flush(30) == 0
        if failed:
            raise AssertionError(f"not acknowledged: {failed[0]}")
        return acknowledged

    return write


@pytest.fixture
def read() -> Read:
    """Everything a topic holds, up to its end, as a read_committed consumer sees it."""

    def read(
        config: dict, topic: str, partitions: int = 1, timeout: float = 20, **options: object
    ) -> list[Message]:
        consumer = Consumer({**config, "group.id": "reader", "enable.partition.eof": True, **options})
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(partitions)])
        found: list[Message] = []
        ended = 0
        try:
            while ended < partitions:
                message = consumer.poll(timeout)
                assert message is not None, f"no end of {topic} within {timeout} s"
                if message.error() is None:
                    found.append(message)
                elif message.error().code() == KafkaError._PARTITION_EOF:
                    ended += 1
                elif not message.error().retriable():
                    raise AssertionError(str(message.error()))
        finally:
            consumer.close()
        return found

    return read


@pytest.fixture
def processes_of() -> Callable[[Path], list[int]]:
    """The pids whose command line names a directory."""

    def processes_of(directory: Path) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    command = (entry / "cmdline").read_bytes()
                except OSError:
                    continue
                if str(directory).encode() in command:
                    found.append(int(entry.name))
        return found

    return processes_of
