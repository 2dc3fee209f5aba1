"""The workloads: what goes in, what is measured, and how an output record reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bench.data import Dataset
from bench.reference import Inputs


class Outcome(NamedTuple):
    """What an output record says: of a key, its value; of a multiset (with no key), a row.

    A larger `time` wins where it is given; else the later record does.
    """

    key: str
    value: object
    time: int = 0


Reader = Callable[[bytes | None, bytes | None], Outcome]


@dataclass(frozen=True)
class Workload:
    """One kind of work. `share` says how many records it gets where a run is asked for 1.

    Shares are so large that both halves of a backlog take a JVM about as long as it takes to get warm.
    """

    name: str
    title: str
    share: float
    measured: tuple[str, ...]
    """Inputs whose progress counts; the others are tables that are read first."""
    multiset: bool = False
    windowed: bool = False

    def inputs(self, records: int, keys: int = 10_000, table_keys: int | None = None) -> Inputs:
        """The datasets, by the role they play."""
        if self.name == "W1":
            return {"lines": Dataset("lines", records, 0)}
        if self.measured == ("left", "right"):
            # A rate at which a record of W5 finds about one partner.
            rate = max(1, keys // 10) if self.name == "W5" else 10_000
            left, right = (records + 1) // 2, records // 2
            return {
                "left": Dataset("events", left, keys, rate, seed=2),
                "right": Dataset("events", right, keys, rate, seed=3),
            }
        inputs = {"events": Dataset("events", records, keys)}
        if self.name in ("W4", "W7"):
            rows = table_keys or keys
            inputs["table"] = Dataset("table", rows, rows)
        return inputs

    def reader(self, form: str) -> Reader:
        """How to read an output record: `binary` as Kafka Streams writes it, `text` or `json`."""
        if self.multiset or self.name == "W6":
            return _READ_JSON[self.name]
        if form == "text":
            return _read_text
        if form == "json":
            return _read_named
        return _read_windowed if self.windowed else _read_long


def _read_text(key: bytes | None, value: bytes | None) -> Outcome:
    assert key is not None
    return Outcome(key.decode(), None if value is None else int(value))


def _read_long(key: bytes | None, value: bytes | None) -> Outcome:
    assert key is not None
    return Outcome(key.decode(), None if value is None else int.from_bytes(value, "big", signed=True))


def _read_windowed(key: bytes | None, value: bytes | None) -> Outcome:
    assert key is not None
    name = f"{key[:-8].decode()}@{int.from_bytes(key[-8:], 'big', signed=True)}"
    return Outcome(name, None if value is None else int.from_bytes(value, "big", signed=True))


def _read_named(_: bytes | None, value: bytes | None) -> Outcome:
    """`{"k": name, "n": number}`; with `diff` and `time` where changes are told instead of values."""
    row = json.loads(value or b"{}")
    if "diff" not in row:
        return Outcome(row["k"], row["n"])
    # Of two changes of one moment the new value counts, not the old one that is taken back.
    return Outcome(row["k"], row["n"] if row["diff"] > 0 else None, 2 * row["time"] + (row["diff"] > 0))


def _row(template: str) -> Reader:
    def read(_: bytes | None, value: bytes | None) -> Outcome:
        return Outcome("", template % json.loads(value or b"{}"))

    return read


def _read_pair(key: bytes | None, value: bytes | None) -> Outcome:
    assert key is not None
    return Outcome(key.decode(), None if value is None else str(_read_match(key, value).value))


_read_match = _row("%(left)d %(right)d")

_READ_JSON: Mapping[str, Reader] = {
    "W0": _row("%(id)d %(user)s %(total)d"),
    "W4": _row("%(id)d %(amount)d %(city)s"),
    "W5": _read_match,
    "W6": _read_pair,
}

WORKLOADS: Mapping[str, Workload] = {
    work.name: work
    for work in (
        Workload("W0", "filter and project JSON", 4.0, ("events",), multiset=True),
        Workload("W1", "word count", 0.6, ("lines",)),
        Workload("W2", "10 s tumbling sum", 4.0, ("events",), windowed=True),
        Workload("W3", "10 s sliding sum", 0.4, ("events",), windowed=True),
        Workload("W4", "stream-table join", 2.0, ("events",), multiset=True),
        Workload("W5", "stream-stream join", 1.0, ("left", "right"), multiset=True),
        Workload("W6", "table-table join", 4.0, ("left", "right")),
        Workload("W7", "join, then windowed count", 2.5, ("events",), windowed=True),
        Workload("sum", "sum per key", 1.0, ("events",)),
    )
}
