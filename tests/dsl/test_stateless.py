"""The stateless verbs of a stream and the nodes they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidemill import StreamsBuilder, serdes
from tidemill.topology.nodes import (
    BranchFilter,
    Filter,
    FlatMap,
    FlatMapValues,
    Foreach,
    GroupBy,
    Map,
    MapValues,
    Merge,
    Peek,
    Print,
    Repartition,
    SelectKey,
    Sink,
)

Of = Callable[[Any], Any]


def one(value: Any) -> Any:
    return value


def two(key: Any, value: Any) -> Any:
    return key, value


@pytest.mark.parametrize(
    ("fn", "with_key"), [(one, False), (two, True), (lambda value, limit=3: value, False)]
)
@pytest.mark.parametrize(("verb", "kind"), [("map_values", MapValues), ("flat_map_values", FlatMapValues)])
def test_value_mappers(
    builder: StreamsBuilder, node: Of, verb: str, kind: type, fn: Any, with_key: bool
) -> None:
    made = node(getattr(builder.stream("orders"), verb)(fn))
    assert isinstance(made, kind)
    assert (made.fn, made.with_key, made.parents) == (fn, with_key, ("stream-of-orders",))


@pytest.mark.parametrize(("verb", "negate"), [("filter", False), ("filter_not", True)])
def test_filters(builder: StreamsBuilder, node: Of, verb: str, negate: bool) -> None:
    made = node(getattr(builder.stream("orders"), verb)(two))
    assert isinstance(made, Filter)
    assert (made.predicate, made.with_key, made.negate) == (two, True, negate)


@pytest.mark.parametrize(("verb", "kind"), [("map", Map), ("flat_map", FlatMap), ("select_key", SelectKey)])
def test_key_mappers_change_the_key(builder: StreamsBuilder, node: Of, verb: str, kind: type) -> None:
    made = node(getattr(builder.stream("orders"), verb)(two))
    assert isinstance(made, kind)
    assert made.changes_key
    assert made.fn is two


def test_functions_with_variable_arguments_get_the_plain_form(builder: StreamsBuilder, node: Of) -> None:
    assert node(builder.stream("orders").map_values(lambda *columns: columns)).with_key is False


def test_builtins_are_taken(builder: StreamsBuilder, node: Of) -> None:
    assert node(builder.stream("orders").map_values(len)).with_key is False
    assert isinstance(node(builder.stream("returns").map(max)), Map)


def test_merge_keeps_what_both_have(builder: StreamsBuilder, node: Of) -> None:
    web = builder.stream("web", key=serdes.string, value=serdes.long)
    shop = builder.stream("shop", key=serdes.string, value=serdes.string)
    merged = web.merge(shop)
    merged.to("all")
    assert isinstance(node(merged), Merge)
    sink = builder.build().sinks[0]
    assert (sink.key, sink.value) == (serdes.string, None)


def test_branches_exclude_those_before(builder: StreamsBuilder, node: Of) -> None:
    split = builder.stream("orders").split(name="o-").branch(one, name="a").branch(two, name="b")
    first, second, rest = map(node, split.default_branch(name="rest").values())
    assert all(isinstance(made, BranchFilter) for made in (first, second, rest))
    assert first.earlier == ()
    assert [condition.fn for condition in second.earlier] == [one]
    assert second.condition.with_key is True
    assert [condition.fn for condition in rest.earlier] == [one, two]
    assert rest.condition is None


def test_branch_may_be_worked_on_at_once(builder: StreamsBuilder) -> None:
    branches = (
        builder.stream("orders")
        .split()
        .branch(one, name="mapped", then=lambda stream: stream.map_values(one, name="done"))
        .branch(two, name="written", then=lambda stream: stream.to("out"))
        .no_default_branch()
    )
    assert {name: stream.name for name, stream in branches.items()} == {"mapped": "done"}


def test_two_splits_of_one_stream(builder: StreamsBuilder) -> None:
    orders = builder.stream("orders")
    first = orders.split().branch(one).no_default_branch()["1"]
    second = orders.split().branch(two).no_default_branch()["1"]
    assert (first.name, second.name) == ("orders-1", "orders-1-2")
    assert first.group_by_key().count().name == "count-of-orders-1"


def test_terminal_verbs(builder: StreamsBuilder) -> None:
    orders = builder.stream("orders")
    assert orders.foreach(one) is None
    assert orders.print(label="x", file="out.txt") is None
    assert orders.to("copy") is None
    made = [type(node) for node in builder.build()][1:]
    assert made == [Foreach, Print, Sink]


def test_peek_passes_on(builder: StreamsBuilder, node: Of) -> None:
    assert isinstance(node(builder.stream("orders").peek(print)), Peek)


def test_repartition(builder: StreamsBuilder, node: Of) -> None:
    made = node(builder.stream("orders", key=serdes.string).repartition(name="spread"))
    assert isinstance(made, Repartition)
    assert (made.topic, made.key) == ("spread-repartition", serdes.string)


def test_group_by_is_a_step_and_group_by_key_is_none(builder: StreamsBuilder) -> None:
    orders = builder.stream("orders")
    assert orders.group_by_key().name == "stream-of-orders"
    orders.group_by(two, key=serdes.long)
    (made,) = list(builder.build())[1:]
    assert isinstance(made, GroupBy)
    assert made.key == serdes.long


def test_sink_takes_a_topic_or_a_chooser(builder: StreamsBuilder) -> None:
    orders = builder.stream("orders")
    orders.to("copy", partitioner=lambda key, value, partitions: key)
    orders.to(two, name="chosen")
    fixed, chosen = builder.build().sinks
    assert (fixed.topic, fixed.chooser, chosen.topic, chosen.chooser) == ("copy", None, None, two)


def test_two_sinks_of_one_topic(builder: StreamsBuilder) -> None:
    orders = builder.stream("orders")
    orders.to("copy")
    orders.to("copy")
    assert [sink.name for sink in builder.build().sinks] == ["to-copy", "to-copy-2"]
