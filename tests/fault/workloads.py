"""What the apps of the fault matrix do: a topology, and what plain Python says must come out of it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from fault.ledger import Entry, Lines

Streams = dict[str, Any]
"""Streams by topic."""

WINDOW_MS = 10_000
GRACE_MS = 5_000
JOIN_MS = 10_000


@dataclass(frozen=True)
class Workload:
    """One kind of work. `expected` recomputes the output from the input log, per key and in order."""

    name: str
    build: Callable[[Any, Streams, Callable[[str], str]], None]
    """Declares it: the builder, the streams there are already, the whole name of a topic."""
    sources: tuple[str, ...]
    output: str
    expected: Callable[[Lines], dict[str, list[str]]]
    found: Callable[[Iterable[Entry]], dict[str, list[str]]]
    ordered: bool = True
    """Whether the results of a key come in the order of the input."""


def _echo(builder: Any, streams: Streams, topic: Callable[[str], str]) -> None:
    _strings(builder, streams, topic("in")).to(topic("echo"))


def _copy(builder: Any, streams: Streams, topic: Callable[[str], str]) -> None:
    """An app of this alone keeps no state: its transactions are those of source partitions, not of tasks."""
    _strings(builder, streams, topic("in")).to(topic("copy"))


def _totals(builder: Any, streams: Streams, topic: Callable[[str], str]) -> None:
    from pyspark.sql import functions as F

    from tidemill import serdes

    def joined(v: Any) -> Any:
        return F.concat_ws(",", *(v[name].cast("string") for name in ("n", "sum", "min", "max")))

    def totals(value: Any) -> Any:
        number = _amount(value)
        return F.struct(
            F.count(number).alias("n"),
            F.sum(number).alias("sum"),
            F.min(number).alias("min"),
            F.max(number).alias("max"),
        )

    grouped = _strings(builder, streams, topic("in")).group_by_key()
    table = grouped.aggregate(totals, store="totals")
    texts = table.to_stream().map_values(joined)
    texts.to(topic("totals"), key=serdes.string, value=serdes.string)


def _windows(builder: Any, streams: Streams, topic: Callable[[str], str]) -> None:
    from tidemill import serdes, windows

    counted = (
        _strings(builder, streams, topic("in"))
        .group_by_key()
        .windowed_by(windows.tumbling(WINDOW_MS, grace=GRACE_MS))
        .emit_strategy("close")
        .count(store="windows")
    )
    counted.to_stream().to(topic("windows"), value=serdes.long)


def _table_join(builder: Any, streams: Streams, topic: Callable[[str], str]) -> None:
    from pyspark.sql import functions as F

    from tidemill import serdes

    users = builder.table(topic("users"), key=serdes.string, value=serdes.string, store="users")
    joined = _strings(builder, streams, topic("orders")).join(
        users, lambda order, user: F.concat(order, F.lit("/"), user)
    )
    joined.to(topic("joined"), key=serdes.string, value=serdes.string)


def _stream_join(builder: Any, streams: Streams, topic: Callable[[str], str]) -> None:
    from pyspark.sql import functions as F

    from tidemill import serdes, windows

    left, right = _strings(builder, streams, topic("left")), _strings(builder, streams, topic("right"))
    # Far more grace than a life lasts: how far one topic is read ahead of the other must not matter.
    window = windows.join(JOIN_MS, grace="2 hours")
    paired = left.join(right, lambda a, b: F.concat(a, F.lit("/"), b), window, store="pairs")
    paired.to(topic("paired"), key=serdes.string, value=serdes.string)


def _two_stages(builder: Any, streams: Streams, topic: Callable[[str], str]) -> None:
    """Through a topic of its own and back: the first half's output is the second half's input."""
    from tidemill import serdes

    first = _strings(builder, streams, topic("in")).select_key(
        lambda key, value: _amount(value).cast("string")
    )
    first.to(topic("middle"), key=serdes.string, value=serdes.string)
    counted = _strings(builder, streams, topic("middle")).group_by_key().count(store="by-amount")
    counted.to_stream().to(topic("by-amount"), key=serdes.string, value=serdes.long)


def _python(builder: Any, streams: Streams, topic: Callable[[str], str]) -> None:
    """A count in the user's own Python: what runs in Spark's Python workers."""
    from tidemill import Processor, Record, serdes, state_store

    class Counter(Processor):
        stores = (state_store("seen", key=serdes.string, value=serdes.long),)

        def process(self, record: Record) -> None:
            store = self.context.state_store("seen")
            count = (store.get(record.key) or 0) + 1
            store.put(record.key, count)
            self.context.forward(record.with_value(f"{record.value}#{count}"))

    stream = _strings(builder, streams, topic("in")).process(Counter)
    stream.to(topic("seen"), key=serdes.string, value=serdes.string)


def _good(builder: Any, streams: Streams, topic: Callable[[str], str]) -> None:
    """Numbers of which some cannot be read, and some are refused by a function: those become dead letters."""
    from pyspark.sql import functions as F

    from tidemill import serdes

    def checked(value: Any) -> Any:
        return F.when(value.n > 0, value.n.cast("string")).otherwise(F.raise_error(F.lit("negative")))

    mixed = builder.stream(topic("mixed"), key=serdes.string, value=serdes.json("n long"))
    numbers = mixed.map_values(checked, name="checked")
    numbers.to(topic("good"), key=serdes.string, value=serdes.string)
    counted = numbers.group_by_key().count(store="good")
    counted.to_stream().to(topic("good-counts"), key=serdes.string, value=serdes.long)


def _nothing(_builder: Any, _streams: Streams, _topic: Callable[[str], str]) -> None:
    """What comes out is made by another workload of the same app."""


def _strings(builder: Any, streams: Streams, topic: str) -> Any:
    """The stream of a topic; several workloads may read the same."""
    from tidemill import serdes

    if topic not in streams:
        streams[topic] = builder.stream(topic, key=serdes.string, value=serdes.string)
    return streams[topic]


def _amount(value: Any) -> Any:
    from pyspark.sql import functions as F

    return F.split(value, ":")[1].cast("long")


def _amount_of(entry: Entry) -> int:
    return int(entry.value.partition(":")[2])


def _expected_echo(lines: Lines) -> dict[str, list[str]]:
    return _by_key((entry.key, entry.value) for entry in lines("in"))


def _expected_totals(lines: Lines) -> dict[str, list[str]]:
    seen: dict[str, list[int]] = defaultdict(list)
    rows = []
    for entry in lines("in"):
        amounts = seen[entry.key]
        amounts.append(_amount_of(entry))
        rows.append((entry.key, f"{len(amounts)},{sum(amounts)},{min(amounts)},{max(amounts)}"))
    return _by_key(rows)


def _expected_windows(lines: Lines) -> dict[str, list[str]]:
    """One row per closed window: a task is a partition, and its clock is its own."""
    counts: dict[tuple[int, str, int], int] = defaultdict(int)
    clocks: dict[int, int] = {}
    for entry in lines("in"):
        clock = clocks[entry.partition] = max(clocks.get(entry.partition, 0), entry.timestamp)
        start = entry.timestamp // WINDOW_MS * WINDOW_MS
        if start + WINDOW_MS > clock - GRACE_MS:
            counts[entry.partition, entry.key, start] += 1
    closed = sorted(
        (key, start, count)
        for (partition, key, start), count in counts.items()
        if start + WINDOW_MS <= clocks[partition] - GRACE_MS
    )
    return _by_key((key, f"{start}={count}") for key, start, count in closed)


def _expected_joined(lines: Lines) -> dict[str, list[str]]:
    """The rows that never change; those that do are judged by `check_versions`."""
    rows = {entry.key: entry.value for entry in lines("users") if entry.key.startswith("fixed")}
    orders = (entry for entry in lines("orders") if entry.key in rows)
    return _by_key((entry.key, f"{entry.value}/{rows[entry.key]}") for entry in orders)


def _expected_pairs(lines: Lines) -> dict[str, list[str]]:
    rights: dict[str, list[Entry]] = defaultdict(list)
    for entry in lines("right"):
        rights[entry.key].append(entry)
    pairs = [
        (left.key, f"{left.value}/{right.value}")
        for left in lines("left")
        for right in rights[left.key]
        if abs(left.timestamp - right.timestamp) <= JOIN_MS
    ]
    return _by_key(sorted(pairs))


def _expected_by_amount(lines: Lines) -> dict[str, list[str]]:
    seen: dict[str, int] = defaultdict(int)
    rows = []
    for entry in lines("in"):
        key = str(_amount_of(entry))
        seen[key] += 1
        rows.append((key, str(seen[key])))
    return _by_key(rows)


def _expected_seen(lines: Lines) -> dict[str, list[str]]:
    seen: dict[str, int] = defaultdict(int)
    rows = []
    for entry in lines("in"):
        seen[entry.key] += 1
        rows.append((entry.key, f"{entry.value}#{seen[entry.key]}"))
    return _by_key(rows)


def _is_good(entry: Entry) -> bool:
    try:
        return bool(json.loads(entry.raw_value)["n"] > 0)
    except ValueError:
        return False


def _expected_good(lines: Lines) -> dict[str, list[str]]:
    good = (entry for entry in lines("mixed") if _is_good(entry))
    return _by_key((entry.key, str(json.loads(entry.raw_value)["n"])) for entry in good)


def _expected_good_counts(lines: Lines) -> dict[str, list[str]]:
    good = _expected_good(lines)
    return {key: [str(n + 1) for n in range(len(values))] for key, values in good.items()}


def _expected_letters(lines: Lines) -> dict[str, list[str]]:
    return _by_key((entry.key, entry.value) for entry in lines("mixed") if not _is_good(entry))


def _found(entries: Iterable[Entry]) -> dict[str, list[str]]:
    return _by_key((entry.key, entry.value) for entry in entries)


def _found_windows(entries: Iterable[Entry]) -> dict[str, list[str]]:
    rows = []
    for entry in entries:
        key, start = entry.raw_key[:-8].decode(), int.from_bytes(entry.raw_key[-8:], "big")
        rows.append((key, f"{start}={int.from_bytes(entry.raw_value, 'big')}"))
    return _by_key(rows)


def _found_fixed(entries: Iterable[Entry]) -> dict[str, list[str]]:
    return _found(entry for entry in entries if entry.key.startswith("fixed"))


def _found_longs(entries: Iterable[Entry]) -> dict[str, list[str]]:
    return _by_key((entry.key, str(int.from_bytes(entry.raw_value, "big"))) for entry in entries)


def _by_key(rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for key, value in rows:
        found[key].append(value)
    return dict(found)


ECHO = Workload("echo", _echo, ("in",), "echo", _expected_echo, _found)
COPY = Workload("copy", _copy, ("in",), "copy", _expected_echo, _found)
TOTALS = Workload("totals", _totals, ("in",), "totals", _expected_totals, _found)
WINDOWS = Workload("windows", _windows, ("in",), "windows", _expected_windows, _found_windows, False)
TABLE_JOIN = Workload(
    "table-join", _table_join, ("orders", "users"), "joined", _expected_joined, _found_fixed
)
STREAM_JOIN = Workload(
    "stream-join", _stream_join, ("left", "right"), "paired", _expected_pairs, _found, False
)
TWO_STAGES = Workload("two-stages", _two_stages, ("in",), "by-amount", _expected_by_amount, _found_longs)
GOOD = Workload("good", _good, ("mixed",), "good", _expected_good, _found)
GOOD_COUNTS = Workload(
    "good-counts", _nothing, ("mixed",), "good-counts", _expected_good_counts, _found_longs
)
LETTERS = Workload("letters", _nothing, ("mixed",), "poisoned-dlq", _expected_letters, _found, False)
PYTHON = Workload("python", _python, ("in",), "seen", _expected_seen, _found)

_ALL = (ECHO, COPY, TOTALS, WINDOWS, TABLE_JOIN, STREAM_JOIN, TWO_STAGES, PYTHON, GOOD, GOOD_COUNTS, LETTERS)
WORKLOADS = {workload.name: workload for workload in _ALL}
POISONED = ("good", "good-counts", "letters")
STATEFUL = ("echo", "totals", "windows", "table-join", "stream-join", "two-stages")
