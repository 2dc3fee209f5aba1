"""The input of a life: seeded records, and the log of those the broker has acknowledged."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """A record in a topic, sent or read."""

    partition: int
    offset: int
    raw_key: bytes
    raw_value: bytes
    timestamp: int

    @property
    def key(self) -> str:
        return self.raw_key.decode()

    @property
    def value(self) -> str:
        """The value as text; bytes that are none are spelled out."""
        return self.raw_value.decode(errors="backslashreplace")


Lines = Callable[[str], list[Entry]]
"""The records of a topic, partition by partition in the order of their offsets."""

_STEP_MS = 150
_KEYS = 8


@dataclass
class Ledger:
    """Makes rounds of records; each has a number of its own, so that losing or doubling one shows."""

    seed: int
    produced: dict[str, list[Entry]] = field(default_factory=lambda: defaultdict(list))
    rounds: int = 0

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._number = 0
        # Close to now, because the broker deletes what is older than a day; whole windows, for the oracle.
        self._start = int(time.time()) // 10 * 10_000 - 3_600_000

    def __call__(self, topic: str) -> list[Entry]:
        """Everything acknowledged in a topic."""
        return sorted(self.produced[topic], key=lambda entry: (entry.partition, entry.offset))

    def next_round(self, topics: set[str], size: int) -> list[tuple[str, dict[str, Any]]]:
        """Records of one round, in the order they are to be sent; the first one fills the table."""
        self.rounds += 1
        records: list[tuple[str, dict[str, Any]]] = []
        if "users" in topics:
            keys = [f"moving{n}" for n in range(3)]
            if self.rounds == 1:
                keys += [f"fixed{n}" for n in range(_KEYS)]
            records += [("users", self._record(key, f"v{self.rounds}")) for key in keys]
        for _ in range(size):
            self._number += 1
            amount = self._chance.randint(-5, 20)
            key = f"k{self._chance.randrange(_KEYS)}"
            records.append(("in", self._record(key, f"{self._number}:{amount}")))
            if "orders" in topics and self._number % 2 == 0:
                kind = "moving" if self._chance.random() < 0.3 else "fixed"
                key = f"{kind}{self._chance.randrange(3 if kind == 'moving' else _KEYS)}"
                records.append(("orders", self._record(key, f"o{self._number}")))
            if "mixed" in topics:
                records.append(("mixed", self._record(key, self._mixed())))
            if "left" in topics and self._number % 3 == 0:
                side = self._chance.choice(("left", "right"))
                key = f"k{self._chance.randrange(3)}"
                records.append((side, self._record(key, f"{side[0]}{self._number}")))
        return [(topic, record) for topic, record in records if topic in topics]

    def _mixed(self) -> str | bytes:
        """Mostly a number as JSON; now and then no JSON, no text at all, or a number nobody can work with."""
        number = self._number
        poisons: tuple[str | bytes, ...] = (
            f'{{"n": {number}',
            f"{number}".encode() + b"\xff\xfe\x00",
            f'{{"n": -{number}}}',
        )
        return self._chance.choice(poisons) if self._chance.random() < 0.15 else f'{{"n": {number}}}'

    def _record(self, key: str, value: str | bytes) -> dict[str, Any]:
        time_ms = self._start + self._number * _STEP_MS + self._chance.randint(-2000, 2000)
        if self._chance.random() < 0.02:
            time_ms -= 40_000  # too late for its window
        return {"key": key, "value": value, "timestamp": time_ms}
