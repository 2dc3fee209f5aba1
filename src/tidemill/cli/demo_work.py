"""What the demo runs: random numbers into Kafka, their rolling sum in Spark, and a check of every sum."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemill import serdes, windows
from tidemill.kafka.clients import open_consumer, open_producer
from tidemill.kafka.settings import Settings

if TYPE_CHECKING:
    from tidemill.dsl import StreamsBuilder

NUMBERS, SUMS = "numbers", "sums"
WINDOW_MS = 5_000
# Records arrive up to this late, less than the grace: none is dropped, and every sum can be checked.
_JITTER_MS, _GRACE_MS = 1_000, 5_000
_KEYS = ("blue", "green", "red")


def rolling_sum() -> StreamsBuilder:
    """The sum of a key's numbers over the last seconds, anew with every number."""
    from tidemill import StreamsBuilder

    builder = StreamsBuilder()
    (
        builder.stream(NUMBERS, key=serdes.string, value=serdes.long)
        .group_by_key()
        .windowed_by(windows.sliding(WINDOW_MS, grace=_GRACE_MS))
        .reduce(lambda total, value: total + value, store="rolling-sum")
        .to_stream()
        .to(SUMS, key=serdes.time_windowed(serdes.string, WINDOW_MS), value=serdes.long)
    )
    return builder


@dataclass(frozen=True)
class Sum:
    """A result: the sum of a key's numbers from `start` to `end`, both included."""

    key: str
    start: int
    end: int
    total: int
    is_latest: bool
    """Whether the window ends with the newest number of its key: the rolling sum of now."""


@dataclass
class Feed:
    """Writes random numbers with a little jitter, in a thread of its own, and remembers them."""

    settings: Settings
    rate: float
    sent: list[tuple[str, int, int]] = field(default_factory=list)
    """(key, timestamp, number) of every record."""

    def __post_init__(self) -> None:
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="demo-feed", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Write no more; what was written is in Kafka when this returns."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(10)

    def _run(self) -> None:
        chance = random.Random()  # noqa: S311 -- numbers to look at, not secrets
        producer, _ = open_producer(self.settings)
        while not self._end.wait(chance.expovariate(self.rate)):
            key, number = chance.choice(_KEYS), chance.randint(1, 100)
            at = int(time.time() * 1000) - chance.randint(0, _JITTER_MS)
            producer.produce(
                NUMBERS, key=serdes.string.encode(key), value=serdes.long.encode(number), timestamp=at
            )
            producer.poll(0)
            self.sent.append((key, at, number))
        producer.flush(10)


class Results:
    """Reads the sums as another program would, and keeps the last one of every window."""

    def __init__(self, settings: Settings) -> None:
        committed = Settings.of({"isolation.level": "read_committed", "auto.offset.reset": "earliest"})
        self._consumer, _ = open_consumer(committed.over(settings), group="demo-screen")
        self._consumer.subscribe([SUMS])
        self._key = serdes.time_windowed(serdes.string, WINDOW_MS)
        self.last: dict[tuple[str, int], int] = {}

    def poll(self, seconds: float) -> Iterator[Sum]:
        """The sums of the next moment."""
        for message in self._consumer.consume(500, timeout=seconds):
            if message.error() is None:
                yield self._sum(message)

    def _sum(self, message: Any) -> Sum:
        window = self._key.decode(message.key())
        total = serdes.long.decode(message.value())
        self.last[window.key, window.start] = total
        # A result bears the time of the newest number in it.
        return Sum(window.key, window.start, window.end, total, message.timestamp()[1] == window.end)

    def wrong(self, sent: list[tuple[str, int, int]]) -> list[tuple[str, int]]:
        """The windows whose last sum is not what plain Python makes of the numbers sent."""
        return [
            (key, start)
            for (key, start), total in self.last.items()
            if total != sum(n for k, at, n in sent if k == key and start <= at <= start + WINDOW_MS)
        ]

    def close(self) -> None:
        """Leave."""
        self._consumer.close()
