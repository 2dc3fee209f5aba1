"""Functions of the user that do not do what their step needs: told when the topology is planned."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from tidemill import KStream, StreamsBuilder, serdes, windows

if TYPE_CHECKING:
    from engine_errors.conftest import Refused

ORDER = serdes.json("item string, amount long")


def _orders() -> tuple[StreamsBuilder, KStream]:
    builder = StreamsBuilder()
    return builder, builder.stream("orders", key=serdes.string, value=ORDER)


def _branching(value: Any) -> Any:
    if value.amount > 3:
        return F.lit("many")
    return F.lit("few")


def _stateless(step: Callable[[KStream], Any]) -> StreamsBuilder:
    builder, orders = _orders()
    step(orders).to("out")
    return builder


def _stateful(step: Callable[[KStream], Any]) -> StreamsBuilder:
    """The same step in front of an aggregation, where the kernel runs it."""
    builder, orders = _orders()
    step(orders).group_by_key().count(store="counts").to_stream().to("out")
    return builder


both_roads = pytest.mark.parametrize("road", [_stateless, _stateful])
Road = Callable[[Callable[[KStream], Any]], StreamsBuilder]


@both_roads
def test_result_that_is_no_column(refused: Refused, road: Road) -> None:
    error = refused(road(lambda orders: orders.map_values(lambda value: {"item": value.item})))
    assert error.what == "the function returned dict, not a Column"
    assert "Column" in (error.remedy or "")


STEPS: dict[str, Callable[[KStream], Any]] = {
    "filter": lambda orders: orders.filter(lambda value: value.amount > 3 and value.amount < 9),
    "map_values": lambda orders: orders.map_values(_branching),
    "select_key": lambda orders: orders.select_key(lambda key, value: _branching(value)),
    "map": lambda orders: orders.map(lambda key, value: (key, _branching(value))),
    "flat_map_values": lambda orders: orders.flat_map_values(lambda value: [_branching(value)]),
    "flat_map": lambda orders: orders.flat_map(lambda key, value: [(key, _branching(value))]),
    "branch": lambda orders: orders.split().branch(_branching, name="big").no_default_branch()["big"],
}


@both_roads
@pytest.mark.parametrize("step", STEPS)
def test_column_treated_like_a_value(refused: Refused, step: str, road: Road) -> None:
    error = refused(road(STEPS[step]))
    assert "treats a Column like a value" in error.what
    assert "F.when(condition, a).otherwise(b)" in (error.remedy or "")


@both_roads
def test_unknown_field_lists_the_fields_there_are(refused: Refused, road: Road) -> None:
    error = refused(road(lambda orders: orders.filter(lambda value: value.price > 3)))
    assert "price" in error.what
    for field in ("item", "amount"):
        assert field in (error.remedy or "")


@both_roads
def test_function_that_fails_by_itself(refused: Refused, road: Road) -> None:
    error = refused(road(lambda orders: orders.map_values(lambda value: [][1])))
    assert "IndexError" in error.what
    assert "python_fn" in (error.remedy or "")


@both_roads
def test_types_that_do_not_combine(refused: Refused, road: Road) -> None:
    error = refused(road(lambda orders: orders.map_values(lambda value: value + 1)))
    assert error.what


@both_roads
def test_predicate_that_is_no_condition(refused: Refused, road: Road) -> None:
    refused(road(lambda orders: orders.filter(lambda value: value.amount)))


@both_roads
def test_flat_map_values_without_an_array(refused: Refused, road: Road) -> None:
    error = refused(road(lambda orders: orders.flat_map_values(lambda value: value.amount)))
    assert error.what == "the function returns bigint, not an array"
    assert "array" in (error.remedy or "")


@both_roads
def test_flat_map_without_pairs(refused: Refused, road: Road) -> None:
    error = refused(road(lambda orders: orders.flat_map(lambda key, value: F.array(value.amount))))
    assert "not of pairs" in error.what


@both_roads
def test_map_without_a_pair(refused: Refused, road: Road) -> None:
    error = refused(road(lambda orders: orders.map(lambda key, value: value.item)))
    assert error.what == "the function must return a pair (key, value)"


def test_topic_chosen_by_a_condition_in_python(refused: Refused) -> None:
    builder, orders = _orders()
    orders.to(lambda key, value: "big" if value.amount > 3 else "small")
    assert "treats a Column like a value" in refused(builder).what


def test_aggregate_that_is_none(refused: Refused) -> None:
    builder, orders = _orders()
    orders.group_by_key().aggregate(lambda value: value.amount + 1, store="sums").to_stream().to("out")
    assert "aggregate" in refused(builder).what


def test_aggregate_of_an_unknown_field(refused: Refused) -> None:
    builder, orders = _orders()
    sums = orders.group_by_key().windowed_by(windows.tumbling("1 h"))
    sums.aggregate(lambda value: F.sum(value.price), store="sums").to_stream().to("out")
    error = refused(builder)
    assert "price" in error.what
    assert "amount" in (error.remedy or "")


def test_fold_that_treats_its_aggregate_like_a_value(refused: Refused) -> None:
    builder, orders = _orders()
    orders.group_by_key().aggregate(
        0, lambda key, value, largest: value.amount if value.amount > largest else largest, store="largest"
    ).to_stream().to("out")
    assert "treats a Column like a value" in refused(builder).what


def test_joiner_of_an_unknown_field(refused: Refused) -> None:
    builder, orders = _orders()
    users = builder.table("users", key=serdes.string, value=serdes.json("name string"))
    orders.join(users, lambda order, user: F.concat(user.nickname, order.item)).to("out")
    error = refused(builder)
    assert "nickname" in error.what
    assert "name" in (error.remedy or "")
