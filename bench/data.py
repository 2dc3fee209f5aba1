"""The input: made from a seed, so that every system and the reference see the same records."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

BASE_MS = 1_700_000_000_000
"""Event time of the first record of a stream."""
TABLE_MS = BASE_MS - 3_600_000
"""Event time of the rows of a table that is complete before the stream begins."""
CITIES = 100
WORDS = 20_000
WORDS_PER_LINE = 10
_LINES_AT_ONCE = 1_000
INPUT = "in2-"
"""Begins the name of every input; its number grows when records change: no former topic must be used."""
TEXTS = ("calm", "ebb", "flood", "spring", "neap", "slack", "swell", "surge")


class Event(NamedTuple):
    """A fact of a stream before it becomes bytes."""

    id: int
    user: int
    amount: int
    at: int


class Record(NamedTuple):
    """What goes into Kafka; a partition of -1 is chosen by the key."""

    key: bytes | None
    value: bytes
    at: int
    partition: int = -1


@dataclass(frozen=True)
class Dataset:
    """Records of one topic. `name` tells all of them apart, so that a topic can be used again.

    Kinds: `events` of keys by chance, `turns` the same with all keys in turn, `lines` of words, `table` with
    a row per key.
    """

    kind: str
    records: int
    keys: int = 10_000
    rate: int = 10_000
    """Records per second of event time."""
    seed: int = 1

    @property
    def name(self) -> str:
        """The topic, without its number of partitions."""
        return f"{INPUT}{self.kind}-{self.records}-{self.keys}-{self.rate}-{self.seed}"

    def rows(self) -> Iterator[Record]:
        """Every record, in the order of event time."""
        return _MAKERS[self.kind](self)

    def events(self) -> Iterator[Event]:
        """The facts behind `rows` of an event stream."""
        draw = random.Random(self.seed).random
        keys, rate = self.keys, self.rate
        if self.kind == "turns":
            for number in range(self.records):
                yield Event(number, number % keys, int(draw() * 1000), BASE_MS + number * 1000 // rate)
            return
        for number in range(self.records):
            yield Event(number, int(draw() * keys), int(draw() * 1000), BASE_MS + number * 1000 // rate)

    def lines(self) -> Iterator[list[int]]:
        """The words of each line, as numbers."""
        bytes_of = random.Random(self.seed).randbytes
        for first in range(0, self.records, _LINES_AT_ONCE):
            draws = array("H", bytes_of(4 * WORDS_PER_LINE * _LINES_AT_ONCE))
            # A product makes small numbers frequent, as words are.
            words = [(one * other * WORDS) >> 32 for one, other in zip(draws[::2], draws[1::2], strict=True)]
            for at in range(min(_LINES_AT_ONCE, self.records - first)):
                yield words[at * WORDS_PER_LINE : (at + 1) * WORDS_PER_LINE]


def user_name(user: int) -> str:
    """The key of a user."""
    return f"user-{user:07d}"


def city_of(user: int) -> str:
    """The city in a user's row of the table."""
    return f"city-{user % CITIES:03d}"


def _events(data: Dataset) -> Iterator[Record]:
    names = [user_name(user).encode() for user in range(data.keys)]
    texts = TEXTS
    for number, user, amount, at in data.events():
        name = names[user]
        value = b'{"id":%d,"user":"%b","amount":%d,"kind":"%b","note":"tide table, page %d"}' % (
            number,
            name,
            amount,
            texts[amount & 7].encode(),
            number % 500,
        )
        yield Record(name, value, at)


def _lines(data: Dataset) -> Iterator[Record]:
    words = [f"w{number:05d}" for number in range(WORDS)]
    for number, line in enumerate(data.lines()):
        text = " ".join([words[word] for word in line])
        yield Record(None, text.encode(), BASE_MS + number * 1000 // data.rate, number)


def _table(data: Dataset) -> Iterator[Record]:
    for user in range(data.records):
        name = user_name(user)
        value = f'{{"name":"{name.upper()}","city":"{city_of(user)}"}}'
        yield Record(name.encode(), value.encode(), TABLE_MS)


_MAKERS = {"events": _events, "turns": _events, "lines": _lines, "table": _table}
