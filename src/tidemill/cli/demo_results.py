"""What comes out of the demo, read as another program would read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tidemill.kafka.clients import open_consumer
from tidemill.kafka.settings import Settings
from tidemill.serde.base import Serde
from tidemill.serde.windowed import Windowed
from tidemill.topology import Topology
from tidemill.windows import SlidingWindows


@dataclass(frozen=True)
class Row:
    """One record of an output topic."""

    topic: str
    key: Any
    value: Any
    timestamp: int
    is_latest: bool
    """False for a sliding window that does not end with this record: it is no sum of now."""

    @property
    def name(self) -> str:
        """The key without its window."""
        return str(self.key.key if isinstance(self.key, Windowed) else self.key)

    @property
    def place(self) -> str:
        """The key in one word."""
        return str(self.key).strip("[]") if isinstance(self.key, Windowed) else str(self.key)

    @property
    def text(self) -> str:
        """The value in one line."""
        if isinstance(self.value, dict):
            return ", ".join(f"{name} {_shown(value)}" for name, value in self.value.items())
        return _shown(self.value)

    @property
    def number(self) -> float | None:
        """A number to draw, if the value has one."""
        values = self.value.values() if isinstance(self.value, dict) else [self.value]
        return next((v for v in values if isinstance(v, int | float) and not isinstance(v, bool)), None)

    def data(self) -> dict[str, Any]:
        """Plain data, for programs."""
        row: dict[str, Any] = {"topic": self.topic, "key": self.name}
        if isinstance(self.key, Windowed):
            row |= {"start": self.key.start, "end": self.key.end}
        return {**row, "value": self.value, "timestamp": self.timestamp}


class Results:
    """Reads the sinks of a topology, committed records only."""

    def __init__(self, settings: Settings, topology: Topology) -> None:
        from confluent_kafka import OFFSET_BEGINNING, TopicPartition

        committed = Settings.of({"isolation.level": "read_committed"})
        self._consumer, _ = open_consumer(committed.over(settings))
        self._sinks = {sink.topic: sink for sink in topology.sinks if sink.topic is not None}
        # Assigned by hand: joining a group would take a moment, and nobody shares this work.
        self._consumer.assign(
            [
                TopicPartition(topic, part, OFFSET_BEGINNING)
                for topic in self._sinks
                for part in self._consumer.list_topics(topic, timeout=10).topics[topic].partitions
            ]
        )
        self._slides = any(isinstance(getattr(node, "window", None), SlidingWindows) for node in topology)
        self.count = 0

    def poll(self, seconds: float) -> Iterator[Row]:
        """The records of the next moment."""
        for message in self._consumer.consume(500, timeout=seconds):
            if message.error() is None:
                self.count += 1
                yield self._row(message)

    def close(self) -> None:
        """Leave."""
        self._consumer.close()

    def _row(self, message: Any) -> Row:
        sink = self._sinks[message.topic()]
        key = _decoded(sink.key, message.key())
        at = message.timestamp()[1]
        latest = not (self._slides and isinstance(key, Windowed)) or key.end == at
        return Row(message.topic(), key, _decoded(sink.value, message.value()), at, latest)


def _decoded(serde: Serde | None, data: bytes | None) -> Any:
    return serde.decode(data) if serde is not None else data


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    return "deleted" if value is None else json.dumps(value, ensure_ascii=False)
