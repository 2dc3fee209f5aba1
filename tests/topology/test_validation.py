"""What is refused, and in which words: every message with its place and remedy is in a golden file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tidemill import (
    Processor,
    StreamsBuilder,
    Topology,
    TopologyBuilder,
    python_fn,
    serdes,
    state_store,
    suppressed,
    time,
    windows,
)
from tidemill.errors import TidemillError
from tidemill.topology import StoreSpec, problems, validate
from tidemill.topology.nodes import Filter, Sink, StreamSource, Suppress, TableFilter, UntilWindowCloses

REFUSED: dict[str, Callable[[], Any]] = {}


def refused(case: Callable[[], Any]) -> Callable[[], Any]:
    REFUSED[case.__name__] = case
    return case


@refused
def name_with_a_space() -> Any:
    builder = StreamsBuilder()
    builder.stream("orders").filter(lambda value: value, name="big orders").to("x")
    return builder.build()


@refused
def foreign_key_in_python() -> Any:
    builder = StreamsBuilder()
    orders, users = builder.table("orders"), builder.table("users")
    key = python_fn(lambda value: value["user"], returns="string")
    orders.join(users, lambda order, user: user, foreign_key=key, store="named").to_stream().to("x")
    return builder.build()


@refused
def group_of_a_table_in_python() -> Any:
    builder = StreamsBuilder()
    group = python_fn(lambda key, value: (value, key), returns="key string, value string")
    builder.table("users").group_by(group).count(store="counts").to_stream().to("x")
    return builder.build()


@refused
def filter_of_a_table_in_python() -> Any:
    builder = StreamsBuilder()
    builder.table("users").filter(python_fn(lambda value: value > "m", returns="boolean")).to_stream().to("x")
    return builder.build()


@refused
def partitioner_in_python() -> Any:
    builder = StreamsBuilder()
    partitioner = python_fn(lambda key, value, partitions: 0, returns="int")
    builder.stream("orders").to("x", partitioner=partitioner)
    return builder.build()


@refused
def cogroup_in_windows_in_python() -> Any:
    builder = StreamsBuilder()
    both = (
        builder.stream("orders").group_by_key().cogroup(python_fn(lambda key, value, n: n + 1, returns=int))
    )
    both.windowed_by(windows.tumbling(10)).aggregate(0, store="counts").to_stream().to("x")
    return builder.build()


@refused
def name_too_long() -> Any:
    builder = StreamsBuilder()
    builder.stream("o" * 250)
    return builder.build()


@refused
def name_given_twice() -> Any:
    orders = StreamsBuilder().stream("orders")
    orders.filter(lambda value: value, name="big")
    return orders.map_values(lambda value: value, name="big")


@refused
def derived_name_of_state_twice() -> Any:
    orders = StreamsBuilder().stream("orders").group_by_key()
    orders.count()
    return orders.count()


@refused
def unknown_parent() -> Any:
    return TopologyBuilder().add_source("in", "orders").add_sink("out", "copy", "inn").build()


@refused
def no_parent() -> Any:
    return TopologyBuilder().add_source("in", "orders").add_sink("out", "copy").build()


@refused
def no_source() -> Any:
    return StreamsBuilder().build()


@refused
def stream_step_on_a_table() -> Any:
    return validate(
        Topology.of(
            [
                StreamSource(name="in", topics=("t",)),
                TableFilter(name="f", parents=("in",), predicate=len),
                Sink(name="out", parents=("f",), topic="copy"),
            ]
        )
    )


@refused
def one_topic_with_two_serdes() -> Any:
    builder = StreamsBuilder()
    builder.stream("users", key=serdes.string, value=serdes.string)
    builder.table("users", key=serdes.string, value=serdes.long)
    return builder.build()


@refused
def one_stream_with_two_serdes() -> Any:
    builder = StreamsBuilder()
    builder.stream("users", value=serdes.string)
    return builder.stream("users", value=serdes.long)


@refused
def overlapping_topics() -> Any:
    builder = StreamsBuilder()
    builder.stream(["a", "b"])
    builder.stream(["b", "c"])
    return builder.build()


@refused
def pattern_over_a_topic() -> Any:
    builder = StreamsBuilder()
    builder.stream("eu-orders")
    builder.stream(re.compile("eu-.*"))
    return builder.build()


@refused
def sink_without_topic() -> Any:
    source = StreamSource(name="in", topics=("t",))
    return validate(Topology.of([source, Sink(name="out", parents=("in",), topic=None)]))


@refused
def one_store_of_two_owners() -> Any:
    builder = StreamsBuilder()
    grouped = builder.stream("orders").group_by_key()
    grouped.count(store="totals")
    grouped.reduce(lambda a, b: a, store="totals")
    return builder.build()


@refused
def store_nobody_uses() -> Any:
    return StreamsBuilder().add_state_store(state_store("seen")).build()


@refused
def store_nobody_declared() -> Any:
    builder = StreamsBuilder()
    builder.stream("orders").process(Processor, stores=["seen"])
    return builder.build()


@refused
def store_declared_twice() -> Any:
    builder = StreamsBuilder().add_state_store(state_store("seen", key=serdes.string))
    return builder.add_state_store(state_store("seen", key=serdes.long))


@refused
def window_store_without_retention() -> Any:
    return state_store("seen", kind="window")


@refused
def unknown_store_kind() -> Any:
    return state_store("seen", kind="heap")


@refused
def retention_below_the_window() -> Any:
    builder = StreamsBuilder()
    hourly = builder.stream("orders").group_by_key().windowed_by(windows.tumbling("1 h", grace="5 min"))
    hourly.count(retention="1 h")
    return builder.build()


@refused
def close_of_unlimited_windows() -> Any:
    builder = StreamsBuilder()
    builder.stream("orders").group_by_key().windowed_by(windows.unlimited()).emit_strategy("close").count()
    return builder.build()


@refused
def unknown_emit_strategy() -> Any:
    grouped = StreamsBuilder().stream("orders").group_by_key()
    return grouped.windowed_by(windows.tumbling("1 h")).emit_strategy("finally")


@refused
def session_fold_without_merger() -> Any:
    builder = StreamsBuilder()
    visits = builder.stream("clicks").group_by_key().windowed_by(windows.session("30 min"))
    visits.aggregate(0, lambda key, value, n: n + 1)
    return builder.build()


@refused
def cogrouped_sessions_without_merger() -> Any:
    builder = StreamsBuilder()
    cogrouped = builder.stream("clicks").group_by_key().cogroup(lambda key, value, n: n + 1)
    cogrouped.windowed_by(windows.session("30 min")).aggregate(0)
    return builder.build()


@refused
def suppress_without_a_window() -> Any:
    builder = StreamsBuilder()
    builder.stream("orders").group_by_key().count().suppress(suppressed.until_window_closes())
    return builder.build()


@refused
def suppress_of_a_versioned_table() -> Any:
    builder = StreamsBuilder()
    builder.table("prices", versioned="1 h").filter(lambda value: value).suppress(
        suppressed.until_time_limit("5 s")
    )
    return builder.build()


@refused
def suppress_of_nothing() -> Any:
    return StreamsBuilder().table("prices").suppress("5 s")  # type: ignore[arg-type]


@refused
def buffer_of_nothing() -> Any:
    return suppressed.until_window_closes(max_records=0)


@refused
def unknown_full_buffer() -> Any:
    return suppressed.until_time_limit("5 s", when_full="panic")


@refused
def grace_without_history() -> Any:
    builder = StreamsBuilder()
    builder.stream("sales").join(builder.table("prices"), lambda sale, price: price, grace="5 s")
    return builder.build()


@refused
def grace_longer_than_history() -> Any:
    builder = StreamsBuilder()
    prices = builder.table("prices", versioned="1 s")
    builder.stream("sales").join(prices, lambda sale, price: price, grace="5 s")
    return builder.build()


@refused
def join_without_windows() -> Any:
    builder = StreamsBuilder()
    return builder.stream("a").join(builder.stream("b"), lambda a, b: a)


@refused
def join_with_wrong_windows() -> Any:
    builder = StreamsBuilder()
    return builder.stream("a").join(builder.stream("b"), lambda a, b: a, windows.tumbling("1 h"))  # type: ignore[arg-type]


@refused
def join_of_a_table_with_windows() -> Any:
    builder = StreamsBuilder()
    return builder.stream("a").join(builder.table("b"), lambda a, b: a, windows.join("1 h"))


@refused
def outer_join_with_a_table() -> Any:
    builder = StreamsBuilder()
    return builder.stream("a").outer_join(builder.table("b"), lambda a, b: a)  # type: ignore[arg-type]


@refused
def global_join_without_key() -> Any:
    builder = StreamsBuilder()
    return builder.stream("a").join(builder.global_table("b"), lambda a, b: a)


@refused
def join_with_a_group() -> Any:
    builder = StreamsBuilder()
    return builder.stream("a").join(builder.stream("b").group_by_key(), lambda a, b: a)  # type: ignore[arg-type]


@refused
def table_join_with_a_stream() -> Any:
    builder = StreamsBuilder()
    return builder.table("a").join(builder.stream("b"), lambda a, b: a)  # type: ignore[arg-type]


@refused
def streams_of_two_builders() -> Any:
    return StreamsBuilder().stream("a").merge(StreamsBuilder().stream("b"))


@refused
def mapper_of_three_arguments() -> Any:
    return StreamsBuilder().stream("orders").map_values(lambda a, b, c: a)


@refused
def mapper_that_is_no_function() -> Any:
    return StreamsBuilder().stream("orders").map(3)  # type: ignore[arg-type]


@refused
def mapper_with_a_needed_keyword() -> Any:
    return StreamsBuilder().stream("orders").filter(lambda value, *, limit: value > limit)


@refused
def reducer_of_one_argument() -> Any:
    return StreamsBuilder().stream("orders").group_by_key().reduce(lambda value: value)


@refused
def joiner_of_four_arguments() -> Any:
    builder = StreamsBuilder()
    return builder.table("a").join(builder.table("b"), lambda a, b, c, d: a)


@refused
def class_instead_of_serde() -> Any:
    return StreamsBuilder().stream("orders", key=str)  # type: ignore[arg-type]


@refused
def object_instead_of_processor_class() -> Any:
    return StreamsBuilder().stream("orders").process(Processor())  # type: ignore[arg-type]


@refused
def negative_duration() -> Any:
    return windows.tumbling("-10 s")


@refused
def duration_in_no_form() -> Any:
    return windows.session("a while")


@refused
def empty_window() -> Any:
    return windows.tumbling(0)


@refused
def advance_longer_than_size() -> Any:
    return windows.hopping("10 s", "11 s")


@refused
def join_window_without_length() -> Any:
    return windows.join(before="5 s")


@refused
def join_window_turned_round() -> Any:
    return windows.join(before="-5 s", after="1 s")


@refused
def windowed_by_join_windows() -> Any:
    return StreamsBuilder().stream("a").group_by_key().windowed_by(windows.join("5 s"))  # type: ignore[call-overload]


@refused
def versions_of_a_windowed_store() -> Any:
    hourly = StreamsBuilder().stream("a").group_by_key().windowed_by(windows.tumbling("1 h"))
    return hourly.count(versioned="1 h")


@refused
def unknown_offset_reset() -> Any:
    return StreamsBuilder().stream("orders", offset_reset="by_duration")


@refused
def unknown_answer_to_a_bad_timestamp() -> Any:
    return time.record_time(on_invalid="shrug")


@refused
def partitioner_of_two_arguments() -> Any:
    return StreamsBuilder().stream("orders").to("copy", partitioner=lambda key, value: key)


@refused
def topics_that_are_none() -> Any:
    return StreamsBuilder().stream([])


@refused
def repartition_into_a_number_of_partitions() -> Any:
    builder = StreamsBuilder()
    builder.stream("orders").repartition(name="spread", partitions=3).to("copy")
    return builder.build()


@refused
def repartition_with_a_partitioner() -> Any:
    builder = StreamsBuilder()
    builder.stream("orders").repartition(partitioner=lambda key, value, partitions: key % partitions)
    return builder.build()


@refused
def changelog_of_a_processor() -> Any:
    class Seen(Processor):
        stores = (state_store("seen", logging=True),)

    builder = StreamsBuilder()
    builder.stream("orders").process(Seen)
    return builder.build()


@refused
def changelog_of_a_join_of_streams() -> Any:
    builder = StreamsBuilder()
    left, right = builder.stream("left"), builder.stream("right")
    left.join(right, lambda a, b: a, windows.join("1 min"), logging={"segment.ms": "1000"})
    return builder.build()


@refused
def changelog_of_suppress() -> Any:
    builder = StreamsBuilder()
    windowed = builder.stream("orders").group_by_key().windowed_by(windows.tumbling("1 h"))
    windowed.count().suppress(suppressed.until_window_closes(logging=True))
    return builder.build()


@refused
def changelog_without_a_store() -> Any:
    return StreamsBuilder().table("users").filter(lambda value: value.isNotNull(), logging=True)


@refused
def changelog_of_windows_of_unknown_keys() -> Any:
    builder = StreamsBuilder()
    windowed = builder.stream("orders").group_by_key().windowed_by(windows.tumbling("1 h"))
    windowed.count(store="hourly", logging=True)
    return builder.build()


@refused
def branch_named_twice() -> Any:
    split = StreamsBuilder().stream("orders").split()
    return split.branch(lambda value: value, name="big").branch(lambda value: value, name="big")


@refused
def derived_name_where_explicit_ones_are_asked_for() -> Any:
    builder = StreamsBuilder()
    builder.stream("orders").group_by_key().count()
    return builder.build(explicit_names=True)


@refused
def store_for_an_unknown_processor() -> Any:
    return TopologyBuilder().add_source("in", "a").add_state_store(state_store("seen"), "in")


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_names_the_users_line_and_a_remedy(name: str) -> None:
    error = _error(name)
    assert error.remedy
    assert error.where is None or __file__ in error.where or "node `" in error.where


def test_messages(golden: Callable[[str, str], None]) -> None:
    texts = (f"## {name}\n{_error(name)}\n" for name in REFUSED)
    golden("refusals.txt", re.sub(re.escape(__file__) + r":\d+", "app.py:N", "\n".join(texts)))


def test_all_problems_can_be_listed() -> None:
    store = StoreSpec(name="held")
    nodes = [
        StreamSource(name="in", topics=("t",)),
        Suppress(name="held", parents=("in",), until=UntilWindowCloses(), store=store),
        Sink(name="out", parents=("in",), topic=None),
    ]
    assert [problem.node for problem in problems(Topology.of(nodes))] == ["held", "out", "held"]


def test_broken_graph_stops_the_other_rules() -> None:
    nodes = [Filter(name="f", parents=("gone",), predicate=len)]
    assert len(list(problems(Topology.of(nodes)))) == 1


def _error(name: str) -> TidemillError:
    with pytest.raises(TidemillError) as caught:
        REFUSED[name]()
    return caught.value
