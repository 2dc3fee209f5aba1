"""Verbs that no scenario of the conformance suite has a word for, run on the driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from tidemill import KStream, StreamsBuilder, record, serdes, suppressed, windows

if TYPE_CHECKING:
    from programs.conftest import Run

Steps = list[tuple[Any, Any, int]]


def _texts(builder: StreamsBuilder) -> KStream:
    return builder.stream("in", key=serdes.string, value=serdes.string)


def _out(run: Run, builder: StreamsBuilder, steps: Steps, *topics: str) -> list[list[tuple[Any, Any, int]]]:
    """What each step writes to each topic, one list per step."""
    driver = run(builder)
    source = driver.create_input_topic("in", key=serdes.string, value=serdes.string)
    sinks = [
        driver.create_output_topic(topic, key=serdes.string, value=serdes.string)
        for topic in topics or ("out",)
    ]
    written = []
    for key, value, time in steps:
        source.pipe_input(key, value, timestamp=time)
        written.append([(r.key, r.value, r.timestamp) for sink in sinks for r in sink.read_records()])
    return written


def _then_count(stream: KStream) -> None:
    """Bring the kernel in: without state Spark alone runs a topology."""
    stream.group_by_key().count(store="counts").to_stream().to("counts")


both_roads = pytest.mark.parametrize("also", [lambda stream: None, _then_count], ids=["catalyst", "kernel"])
Also = Callable[[KStream], None]


@both_roads
def test_map_replaces_key_and_value(run: Run, also: Also) -> None:
    builder = StreamsBuilder()
    turned = _texts(builder).map(lambda key, value: (value, F.upper(key)))
    turned.to("out", key=serdes.string, value=serdes.string)
    also(turned)
    steps: Steps = [("a", "x", 5), (None, "y", 3), ("b", None, 4)]
    assert _out(run, builder, steps) == [[("x", "A", 5)], [("y", None, 3)], [(None, "B", 4)]]


@both_roads
def test_flat_map_gives_pairs_in_order(run: Run, also: Also) -> None:
    builder = StreamsBuilder()
    words = _texts(builder).flat_map(
        lambda key, value: F.transform(
            F.split(value, " "), lambda word: F.struct(word.alias("key"), key.alias("value"))
        )
    )
    words.to("out", key=serdes.string, value=serdes.string)
    also(words)
    steps: Steps = [("k", "one two one", 5), (None, "three", 3)]
    assert _out(run, builder, steps) == [
        [("one", "k", 5), ("two", "k", 5), ("one", "k", 5)],
        [("three", None, 3)],
    ]


@both_roads
def test_flat_map_of_a_list_of_pairs(run: Run, also: Also) -> None:
    builder = StreamsBuilder()
    twice = _texts(builder).flat_map(lambda key, value: [(key, value), (value, key)])
    twice.to("out", key=serdes.string, value=serdes.string)
    also(twice)
    assert _out(run, builder, [("a", "b", 1)]) == [[("a", "b", 1), ("b", "a", 1)]]


def test_one_source_reads_several_topics(run: Run) -> None:
    builder = StreamsBuilder()
    both = builder.stream(["web", "shop"], key=serdes.string, value=serdes.string)
    both.group_by_key().count(store="counts").to_stream().to("out")
    driver = run(builder)
    out = driver.create_output_topic("out", key=serdes.string, value=serdes.long)
    for topic in ("web", "shop", "web"):
        driver.create_input_topic(topic, key=serdes.string, value=serdes.string).pipe_input("k", "x")
    assert [r.value for r in out.read_records()] == [1, 2, 3]


@both_roads
def test_each_record_goes_to_the_topic_a_function_names(run: Run, also: Also) -> None:
    builder = StreamsBuilder()
    texts = _texts(builder)
    texts.to(lambda key, value: F.when(F.length(value) > 3, "long").otherwise("short"))
    also(texts)
    steps: Steps = [("a", "tide", 1), ("a", "sea", 2)]
    assert _out(run, builder, steps, "long") == [[("a", "tide", 1)], []]


def test_branch_goes_on_where_it_was_declared(run: Run) -> None:
    builder = StreamsBuilder()
    branches = (
        _texts(builder)
        .split()
        .branch(lambda value: value == "x", name="mapped", then=lambda s: s.map_values(F.upper))
        .branch(lambda value: value == "y", name="written", then=lambda s: s.to("written"))
        .no_default_branch()
    )
    branches["mapped"].to("out", value=serdes.string)
    steps: Steps = [("a", "x", 1), ("a", "y", 2), ("a", "z", 3)]
    assert _out(run, builder, steps, "out", "written") == [[("a", "X", 1)], [("a", "y", 2)], []]


def test_table_as_a_stream_under_a_new_key(run: Run) -> None:
    builder = StreamsBuilder()
    table = builder.table("in", key=serdes.string, value=serdes.string)
    table.to_stream(lambda key, value: F.concat(key, F.lit("!"))).to("out", key=serdes.string)
    assert _out(run, builder, [("a", "x", 5), ("a", None, 4)]) == [[("a!", "x", 5)], [("a!", None, 4)]]


def test_foreign_key_may_be_taken_from_the_key(run: Run) -> None:
    builder = StreamsBuilder()
    left = builder.table("in", key=serdes.string, value=serdes.string)
    right = builder.table("right", key=serdes.string, value=serdes.string)
    joined = left.join(
        right,
        lambda key, mine, theirs: F.concat_ws("/", key, mine, theirs),
        foreign_key=lambda key, value: F.substring(key, 1, 1),
    )
    joined.to_stream().to("out", value=serdes.string)
    driver = run(builder)
    source = driver.create_input_topic("in", key=serdes.string, value=serdes.string)
    other = driver.create_input_topic("right", key=serdes.string, value=serdes.string)
    out = driver.create_output_topic("out", key=serdes.string, value=serdes.string)
    source.pipe_input("u-1", "x", timestamp=1)
    other.pipe_input("u", "Uma", timestamp=2)
    other.pipe_input("v", "Vic", timestamp=3)
    assert [(r.key, r.value) for r in out.read_records()] == [("u-1", "u-1/x/Uma")]


@pytest.mark.parametrize(
    ("window", "sums"),
    [
        (windows.tumbling(10), [3, 5]),
        (windows.hopping(10, 2), [3, 3, 5, 5, 2]),
        (windows.session(10), [3, None, 5]),
        (windows.unlimited(), [3, 5]),
    ],
    ids=lambda item: getattr(item, "word", ""),
)
def test_spark_aggregate_in_windows(run: Run, window: Any, sums: list[int | None]) -> None:
    builder = StreamsBuilder()
    grouped = builder.stream("numbers", key=serdes.string, value=serdes.long).group_by_key()
    grouped.windowed_by(window).aggregate(lambda value: F.sum(value), store="s").to_stream(
        lambda key, value: key["key"]
    ).to("out", key=serdes.string, value=serdes.long)
    driver = run(builder)
    numbers = driver.create_input_topic("numbers", key=serdes.string, value=serdes.long)
    out = driver.create_output_topic("out", key=serdes.string, value=serdes.long)
    numbers.pipe_input("k", 3, timestamp=3)
    numbers.pipe_input("k", 2, timestamp=4)
    assert [r.value for r in out.read_records()] == sums


def test_function_reads_what_belongs_to_a_record(run: Run) -> None:
    builder = StreamsBuilder()
    _texts(builder).map_values(
        lambda value: F.concat_ws(
            "|", record.topic(), record.partition(), record.offset(), F.unix_millis(record.timestamp())
        )
    ).to("out", value=serdes.string)
    steps: Steps = [("a", "x", 7), ("a", "x", 8)]
    assert _out(run, builder, steps) == [[("a", "in|0|0|7", 7)], [("a", "in|0|1|8", 8)]]


def test_given_names_are_kept() -> None:
    builder = StreamsBuilder()
    orders = builder.stream("orders", key=serdes.string, value=serdes.long, name="all-orders")
    hourly = orders.group_by_key().windowed_by(windows.tumbling("1 h")).count(store="hourly")
    finals = hourly.suppress(suppressed.until_window_closes(), name="finals")
    finals.to_stream(name="as-stream").to("out", name="last-step")
    topology = builder.build()
    assert {"all-orders", "finals", "as-stream", "last-step"} < set(topology.nodes)
    assert [store.name for store in topology.stores_of("finals")] == ["finals-store"]
