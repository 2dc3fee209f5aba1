"""Steps that do not fit each other: key types, value types, serdes, loops, names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine_errors.conftest import complete
from tidemill import Processor, StreamsBuilder, Topology, TopologyError, serdes, state_store, windows

if TYPE_CHECKING:
    from engine_errors.conftest import Refused


def _keys_of_streams(builder: StreamsBuilder) -> None:
    left = builder.stream("l", key=serdes.string, value=serdes.long)
    right = builder.stream("r", key=serdes.long, value=serdes.long)
    left.join(right, lambda a, b: a + b, windows.join("5 s")).to("out")


def _keys_of_stream_and_table(builder: StreamsBuilder) -> None:
    stream = builder.stream("l", key=serdes.string, value=serdes.long)
    stream.left_join(builder.table("r", key=serdes.long, value=serdes.long), lambda a, b: a).to("out")


def _keys_of_tables(builder: StreamsBuilder) -> None:
    left = builder.table("l", key=serdes.string, value=serdes.long)
    right = builder.table("r", key=serdes.long, value=serdes.long)
    left.outer_join(right, lambda a, b: a).to_stream().to("out")


def _key_of_a_global_table(builder: StreamsBuilder) -> None:
    stream = builder.stream("l", key=serdes.string, value=serdes.string)
    rates = builder.global_table("r", key=serdes.long, value=serdes.long)
    stream.join(rates, lambda a, b: b, key=lambda key, value: value).to("out")


def _foreign_key(builder: StreamsBuilder) -> None:
    left = builder.table("l", key=serdes.string, value=serdes.json("user string"))
    right = builder.table("r", key=serdes.long, value=serdes.long)
    left.join(right, lambda a, b: b, foreign_key=lambda value: value.user).to_stream().to("out")


JOINS = (_keys_of_streams, _keys_of_stream_and_table, _keys_of_tables, _key_of_a_global_table, _foreign_key)


@pytest.mark.parametrize("join", JOINS, ids=lambda join: join.__name__.strip("_"))
def test_keys_of_a_join_differ(refused: Refused, join: Callable[[StreamsBuilder], None]) -> None:
    builder = StreamsBuilder()
    join(builder)
    error = refused(builder)
    assert error.what == "the keys differ: string on the left, bigint on the right"
    assert "one type" in (error.remedy or "")


@pytest.mark.parametrize("stateful", [False, True], ids=["stateless", "stateful"])
def test_merge_of_different_types(refused: Refused, stateful: bool) -> None:
    builder = StreamsBuilder()
    web = builder.stream("web", key=serdes.string, value=serdes.long)
    merged = web.merge(builder.stream("shop", key=serdes.string, value=serdes.string))
    if stateful:
        merged = merged.group_by_key().count(store="counts").to_stream()
    merged.to("out")
    error = refused(builder)
    assert error.what == "the merged streams differ: (string, bigint) and (string, string)"
    assert "before merging" in (error.remedy or "")


@pytest.mark.parametrize("part", ["key", "value"])
@pytest.mark.parametrize("verb", ["stream", "table", "global_table"])
def test_source_without_a_serde(refused: Refused, verb: str, part: str) -> None:
    builder = StreamsBuilder()
    given = {"key": serdes.string, "value": serdes.string}
    source = getattr(builder, verb)("in", **(given | {part: None}))
    if verb == "stream":
        source.to("out")
    elif verb == "table":
        source.to_stream().to("out")
    else:
        orders = builder.stream("orders", key=serdes.string, value=serdes.string)
        orders.join(source, lambda a, b: b, key=lambda key, value: value).to("out")
    error = refused(builder)
    assert part in error.what
    assert f"{part}=" in (error.remedy or "")


def test_serde_that_does_not_fit_its_sink(refused: Refused) -> None:
    builder = StreamsBuilder()
    orders = builder.stream("orders", key=serdes.string, value=serdes.json("item string, amount long"))
    orders.to("out", value=serdes.long)
    refused(builder)


def test_fields_a_sink_wants_and_the_value_lacks(refused: Refused) -> None:
    builder = StreamsBuilder()
    orders = builder.stream("orders", key=serdes.string, value=serdes.json("item string, amount long"))
    orders.to("out", value=serdes.json("item string, price double"))
    assert "price" in str(refused(builder))


def test_stream_that_meets_itself_goes_on_behind_the_shuffle() -> None:
    from tidemill.engine.steps import physical_plan

    builder = StreamsBuilder()
    orders = builder.stream("orders", key=serdes.string, value=serdes.string)
    prices = builder.table("prices", key=serdes.string, value=serdes.long)
    priced = orders.left_join(prices, lambda order, price: order, name="priced")
    counts = priced.group_by(lambda key, value: value, name="by-item").count(store="counts", name="count")
    back = priced.left_join(counts, lambda order, count: order, name="back")
    back.left_join(prices, lambda order, price: order, name="again").to("out", name="out")
    plan = physical_plan(builder.build())
    levels = {name: plan.levels[name] for name in ("priced", "by-item", "count", "back", "again", "out")}
    assert levels == {"priced": 0, "by-item": 0, "count": 1, "back": 1, "again": 1, "out": 1}
    # The table that both sides look into has a copy of its rows on the second.
    copy = f"{plan.steps['priced'].inputs[1].parent}/rows"
    assert plan.steps["again"].inputs[1].parent == copy
    assert plan.levels[copy] == 1


def test_processors_that_share_a_store_across_a_shuffle(refused: Refused) -> None:
    builder = StreamsBuilder()
    shared = state_store("shared", key=serdes.string, value=serdes.string)
    orders = builder.stream("orders", key=serdes.string, value=serdes.string)
    counted = orders.process(Processor, stores=[shared], name="first").repartition(name="anew")
    counted.process(Processor, stores=[shared], name="second").to("out")
    assert "comes back to a step that it gets its own records from" in refused(builder).what


def test_windows_of_the_users_own(refused: Refused) -> None:
    builder = StreamsBuilder()
    daily = windows.custom(lambda timestamp: timestamp, "1 day")
    orders = builder.stream("orders", key=serdes.string, value=serdes.long).group_by_key()
    orders.windowed_by(daily).count(store="daily").to_stream().to("out")
    assert "the windows are timestamp, not pairs of start and end" in refused(builder).what


def test_partitioner_that_gives_no_number(refused: Refused) -> None:
    builder = StreamsBuilder()
    orders = builder.stream("orders", key=serdes.string, value=serdes.string)
    orders.to("out", partitioner=lambda key, value, partitions: value)
    assert "the partitioner returns string" in refused(builder).what


# What needs no plan: it is refused on the line that declares it.


def _duplicate_name(builder: StreamsBuilder) -> Topology:
    orders = builder.stream("orders", key=serdes.string, value=serdes.long)
    orders.filter(lambda value: value > 3, name="big").to("out")
    orders.filter(lambda value: value > 9, name="big").to("out")
    return builder.build()


def _invalid_name(builder: StreamsBuilder) -> Topology:
    orders = builder.stream("orders", key=serdes.string, value=serdes.long)
    orders.filter(lambda value: value > 3, name="big orders").to("out")
    return builder.build()


def _duplicate_store(builder: StreamsBuilder) -> Topology:
    grouped = builder.stream("orders", key=serdes.string, value=serdes.long).group_by_key()
    grouped.count(store="totals")
    grouped.reduce(lambda a, b: a + b, store="totals")
    return builder.build()


BUILD = {"big": _duplicate_name, "big orders": _invalid_name, "totals": _duplicate_store}


@pytest.mark.parametrize("name", BUILD)
def test_name_that_cannot_be(name: str) -> None:
    with pytest.raises(TopologyError) as caught:
        BUILD[name](StreamsBuilder())
    complete(caught.value, Path(__file__))
    assert f"`{name}`" in caught.value.what


@pytest.mark.parametrize("verb", ["map_values", "filter", "map", "select_key", "flat_map", "group_by"])
def test_wrong_number_of_arguments(verb: str) -> None:
    orders = StreamsBuilder().stream("orders", key=serdes.string, value=serdes.long)
    with pytest.raises(TopologyError, match="yours takes 4") as caught:
        getattr(orders, verb)(lambda a, b, c, d: a)
    assert f"{__file__}:" in str(caught.value)
    assert "lambda" in (caught.value.remedy or "")
