"""Serdes are kept where key or value are, and lost where they change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidemill import KStream, StreamsBuilder, serdes, windows
from tidemill.serde import Serde

JSON = serdes.json("amount double")


def one(value: Any) -> Any:
    return value


def two(key: Any, value: Any) -> Any:
    return key


STEPS: dict[str, tuple[Callable[[KStream], Any], Serde | None, Serde | None]] = {
    "filter": (lambda s: s.filter(one), serdes.string, JSON),
    "peek": (lambda s: s.peek(one), serdes.string, JSON),
    "map_values": (lambda s: s.map_values(one), serdes.string, None),
    "flat_map_values": (lambda s: s.flat_map_values(one), serdes.string, None),
    "select_key": (lambda s: s.select_key(two), None, JSON),
    "select_key to long": (lambda s: s.select_key(two, key=serdes.long), serdes.long, JSON),
    "map": (lambda s: s.map(two), None, None),
    "repartition": (lambda s: s.repartition(), serdes.string, JSON),
    "to_table": (lambda s: s.to_table().to_stream(), serdes.string, JSON),
    "count": (lambda s: s.group_by_key().count().to_stream(), serdes.string, serdes.long),
    "group_by count": (
        lambda s: s.group_by(two, key=serdes.long).count().to_stream(),
        serdes.long,
        serdes.long,
    ),
    "reduce": (lambda s: s.group_by_key().reduce(two).to_stream(), serdes.string, JSON),
    "aggregate": (lambda s: s.group_by_key().aggregate(two).to_stream(), serdes.string, None),
    "aggregate to long": (
        lambda s: s.group_by_key().aggregate(two, value=serdes.long).to_stream(),
        serdes.string,
        serdes.long,
    ),
    "tumbling": (
        lambda s: s.group_by_key().windowed_by(windows.tumbling(10)).count().to_stream(),
        serdes.time_windowed(serdes.string, 10),
        serdes.long,
    ),
    "sliding": (
        lambda s: s.group_by_key().windowed_by(windows.sliding(10)).count().to_stream(),
        serdes.time_windowed(serdes.string, 10),
        serdes.long,
    ),
    "session": (
        lambda s: s.group_by_key().windowed_by(windows.session(10)).count().to_stream(),
        serdes.session_windowed(serdes.string),
        serdes.long,
    ),
    "unlimited": (
        lambda s: s.group_by_key().windowed_by(windows.unlimited()).count().to_stream(),
        serdes.time_windowed(serdes.string),
        serdes.long,
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_what_reaches_the_sink(builder: StreamsBuilder, name: str) -> None:
    step, key, value = STEPS[name]
    step(builder.stream("orders", key=serdes.string, value=JSON)).to("out")
    (sink,) = builder.build().sinks
    assert (sink.key, sink.value) == (key, value)


def test_sink_overrules(builder: StreamsBuilder) -> None:
    builder.stream("orders", key=serdes.string, value=JSON).to("out", key=serdes.long, value=serdes.bytes)
    (sink,) = builder.build().sinks
    assert (sink.key, sink.value) == (serdes.long, serdes.bytes)


def test_store_has_the_serdes_of_the_result(builder: StreamsBuilder) -> None:
    builder.stream("orders", key=serdes.string, value=JSON).group_by_key().count(store="counts")
    store = builder.build().stores["counts"]
    assert (store.key, store.value) == (serdes.string, serdes.long)
