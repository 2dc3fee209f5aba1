"""Changelog topics have the bytes and timestamps that the real Kafka Streams writes to its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from oracle import spec
from oracle.driver import oracle_changelog
from tidemill import StreamsBuilder, serdes, windows
from tidemill.testing import TopologyTestDriver


def _into(*records: tuple[str, int | None, int]) -> tuple[spec.Input, ...]:
    return tuple(spec.Input("in", *record) for record in records)


_IN = spec.GroupByKey(spec.Stream("in", spec.LONG))
_STEPS = _into(("a", 1, 0), ("bc", 2, 5), ("a", 3, 12), ("a", 4, 7), ("bc", 5, 30), ("a", 6, 41))
_ROWS = _into(("a", 5, 0), ("b", 15, 1), ("a", 25, 2), ("a", None, 3), ("b", 7, 4), ("b", None, 5))


def _counted(window: Any) -> Callable[[StreamsBuilder], None]:
    def declare(builder: StreamsBuilder) -> None:
        grouped = builder.stream("in", key=serdes.string, value=serdes.long).group_by_key()
        counted = grouped if window is None else grouped.windowed_by(window)
        counted.count(store="counts", logging=True).to_stream().to("out")

    return declare


def _rows(builder: StreamsBuilder, **options: Any) -> None:
    table = builder.table("in", key=serdes.string, value=serdes.long, store="counts", logging=True, **options)
    table.to_stream().to("out")


def _versions(builder: StreamsBuilder) -> None:
    _rows(builder, versioned="1 min")


def _filtered(builder: StreamsBuilder) -> None:
    table = builder.table("in", key=serdes.string, value=serdes.long)
    table.filter(lambda value: value > 10, store="counts", logging=True).to_stream().to("out")


CASES: dict[str, tuple[spec.Node, tuple[spec.Input, ...], Callable[[StreamsBuilder], None]]] = {
    "count": (spec.Count(_IN, store="counts"), _STEPS, _counted(None)),
    "tumbling": (
        spec.Count(_IN, spec.Tumbling(10, grace=100), store="counts"),
        _STEPS,
        _counted(windows.tumbling(10, grace=100)),
    ),
    "hopping": (
        spec.Count(_IN, spec.Hopping(10, 5, grace=100), store="counts"),
        _STEPS,
        _counted(windows.hopping(10, 5, grace=100)),
    ),
    "sliding": (
        spec.Count(_IN, spec.Sliding(10, grace=100), store="counts"),
        _STEPS,
        _counted(windows.sliding(10, grace=100)),
    ),
    "session": (
        spec.Count(_IN, spec.Session(6, grace=100), store="counts"),
        _STEPS,
        _counted(windows.session(6, grace=100)),
    ),
    "table": (spec.Table("in", spec.LONG, store="counts"), _ROWS, _rows),
    "versioned": (spec.Table("in", spec.LONG, store="counts", history=60_000), _ROWS, _versions),
    "filtered": (spec.Filter(spec.Table("in", spec.LONG), "gt(10)", store="counts"), _ROWS, _filtered),
}


@pytest.mark.parametrize("name", CASES)
def test_changelog_has_the_bytes_of_kafka_streams(name: str) -> None:
    node, steps, declare = CASES[name]
    wanted = oracle_changelog(spec.Scenario(name, (spec.Sink("out", node),), steps), "counts")
    builder = StreamsBuilder()
    declare(builder)
    with TopologyTestDriver(builder, config={"statestore.cache.max.bytes": "0"}) as driver:
        source = driver.create_input_topic("in", key=serdes.string, value=serdes.long)
        for step in steps:
            source.pipe_input(step.key, step.value, timestamp=step.ts)
        topic = driver.create_output_topic("test-counts-changelog", key=serdes.bytes, value=serdes.bytes)
        found = [(record.key, record.value, record.timestamp) for record in topic.read_records()]
    if name == "session":
        # Rows have their own time here, a session's end; there that of the record that changed them.
        found, wanted = ([row[:2] for row in rows] for rows in (found, wanted))
    assert found == wanted
