"""How many records of the backlog a program has finished, by its own word in Kafka or in a file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from confluent_kafka import Consumer, KafkaException, TopicPartition

from bench.answers import SILENT
from bench.broker import Broker

_ASK_SECONDS = 5.0
_MARKERS = 2
"""Offsets per partition that transaction markers may leave at the end of a repartition topic."""


class Progress(Protocol):
    """A number that grows to the number of records."""

    def done(self) -> int:
        """Records whose results are written."""

    def close(self) -> None:
        """Let go."""


class GroupProgress:
    """What a consumer group has committed.

    Where the program sends records through repartition topics of its own, each half of the way counts half:
    the first half runs ahead, and its work would else be done before the count begins.
    """

    def __init__(
        self, broker: Broker, group: str, topics: Sequence[str], partitions: int, inner: str = ""
    ) -> None:
        self._broker = broker
        self._partitions = partitions
        self._inner_mark = inner
        self._inner: list[str] = []
        self._places = [TopicPartition(topic, part) for topic in topics for part in range(partitions)]
        self._last = 0
        self._consumer = Consumer(
            {"bootstrap.servers": broker.address, **SILENT, "group.id": group, "enable.auto.commit": False}
        )

    def done(self) -> int:
        """The records whose results the group says are written."""
        try:
            done = self._committed(self._places)
            if self._inner_mark and done:
                done = int(done * (1 + self._inner_share()) / 2)
        except KafkaException:
            return self._last
        self._last = max(self._last, done)
        return self._last

    def close(self) -> None:
        """Leave."""
        self._consumer.close()

    def _inner_share(self) -> float:
        if not self._inner:
            self._inner = [topic for topic in self._broker.topics() if self._inner_mark in topic]
        if not self._inner:
            return 0.0
        ends = {topic: self._broker.ends(topic) for topic in self._inner}
        written = sum(sum(parts.values()) for parts in ends.values())
        places = [TopicPartition(topic, part) for topic, parts in ends.items() for part in parts]
        read = self._committed(places)
        if not written:
            return 0.0
        return 1.0 if written - read <= _MARKERS * len(places) else read / written

    def _committed(self, places: list[TopicPartition]) -> int:
        found = self._consumer.committed(places, timeout=_ASK_SECONDS)
        return sum(max(0, place.offset) for place in found)


class FileProgress:
    """Numbers in files: `<file>` if there is one, else the parts `<file>.0`, `<file>.1` of several processes.

    The parts are of records read; only the file itself says that all results are written.
    """

    def __init__(self, file: Path, records: int) -> None:
        self._file = file
        self._records = records
        self._last = 0

    def done(self) -> int:
        """What stands there."""
        whole = _number(self._file)
        if whole is None:
            parts = self._file.parent.glob(f"{self._file.name}.*")
            whole = min(self._records - 1, sum(_number(part) or 0 for part in parts))
        self._last = max(self._last, whole)
        return self._last

    def close(self) -> None:
        """Nothing to close."""


def _number(file: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int(file.read_text())
    return None
