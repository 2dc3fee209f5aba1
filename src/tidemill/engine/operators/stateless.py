"""Stateless steps of streams: filters, mappings, merges."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from tidemill.engine.lowering import Lowering, Types, lowers
from tidemill.engine.steps import Step
from tidemill.topology import TopologyError
from tidemill.topology.nodes import (
    BranchFilter,
    Condition,
    Filter,
    FlatMap,
    FlatMapValues,
    GroupBy,
    Map,
    MapValues,
    Merge,
    Node,
    Repartition,
    SelectKey,
)

RecordFunction = Callable[[Column, Column], Any]


def of_record(fn: Callable[..., Any], with_key: bool) -> RecordFunction:
    """A user's function of (value) or (key, value) as one of (key, value)."""
    return fn if with_key else lambda _key, value: fn(value)


def same_types(node: Node, types: Types, other: Types) -> None:
    """Refuse to merge streams of different types."""
    if (other.key, other.value) != (types.key, types.value):
        raise TopologyError(
            f"the merged streams differ: {_text(types)} and {_text(other)}",
            node=node.name,
            place=node.place,
            remedy="bring them to one type with map_values or map before merging",
        )


def pairs_of(node: Node, element: DataType) -> StructType:
    """The type of a flat_map's pairs; anything else is refused."""
    if isinstance(element, StructType) and len(element) == 2:
        return element
    raise TopologyError(
        f"the function returns an array of {element.simpleString()}, not of pairs",
        node=node.name,
        place=node.place,
        remedy="return [(key, value), ...] or an array Column of structs with two fields",
    )


def branch_condition(node: BranchFilter) -> Callable[[Column, Column], Column]:
    """Of which records a branch is the first that holds."""

    def mine(key: Column, value: Column) -> Column:
        conditions = [~_holds(condition, key, value) for condition in node.earlier]
        if node.condition is not None:
            conditions.append(_holds(node.condition, key, value))
        return reduce(Column.__and__, conditions, F.lit(True))

    return mine


@lowers(Filter)
def filter_(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Keep what the predicate holds of."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, Filter)
    fn = of_record(node.predicate, node.with_key)
    low.columns.predicate_type(node, fn, types.key, types.value)
    predicate = low.columns.of_record(node, fn, types.key, types.value)
    return low.nodes.Filter(step.name, predicate.evaluator, node.negate), types


@lowers(BranchFilter)
def branch(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Keep what no earlier branch took and this one wants."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, BranchFilter)
    predicate = low.columns.of_record(node, branch_condition(node), types.key, types.value)
    return low.nodes.Filter(step.name, predicate.evaluator, False), types


@lowers(MapValues)
def map_values(low: Lowering, step: Step) -> tuple[Any, Types]:
    """A new value under the same key."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, MapValues)
    value = low.columns.of_record(node, of_record(node.fn, node.with_key), types.key, types.value)
    return low.nodes.MapRecord(step.name, None, value.evaluator), Types(types.key, value.type)


@lowers(Map)
def map_(low: Lowering, step: Step) -> tuple[Any, Types]:
    """A new key and a new value."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, Map)
    key, value = low.columns.pair_of_record(node, node.fn, types.key, types.value)
    return low.nodes.MapRecord(step.name, key.evaluator, value.evaluator), Types(key.type, value.type)


@lowers(SelectKey)
@lowers(GroupBy)
def select_key(low: Lowering, step: Step) -> tuple[Any, Types]:
    """A new key for the same value."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, SelectKey | GroupBy)
    key = low.columns.of_record(node, of_record(node.fn, True), types.key, types.value)
    return low.nodes.MapRecord(step.name, key.evaluator, None), Types(key.type, types.value)


@lowers(FlatMapValues)
def flat_map_values(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Any number of values under the same key."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, FlatMapValues)
    fn = of_record(node.fn, node.with_key)
    array, element = low.columns.array_of_record(node, fn, types.key, types.value)
    return low.nodes.FlatMap(step.name, array.evaluator, False), Types(types.key, element)


@lowers(FlatMap)
def flat_map(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Any number of keys and values."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, FlatMap)
    array, element = low.columns.array_of_record(node, node.fn, types.key, types.value)
    pair = pairs_of(node, element)
    pairs = Types(pair[0].dataType, pair[1].dataType)
    return low.nodes.FlatMap(step.name, array.evaluator, True), pairs


@lowers(Merge)
def merge(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Several streams as one; they must be of one type."""
    types = low.input_types(step)
    for slot in range(1, len(step.inputs)):
        same_types(step.node, types, low.input_types(step, slot))
    return low.nodes.Pass(step.name), types


@lowers(Repartition)
def repartition(low: Lowering, step: Step) -> tuple[Any, Types]:
    """The shuffle happens on the way in."""
    return low.nodes.Pass(step.name), low.input_types(step)


def _holds(condition: Condition, key: Column, value: Column) -> Column:
    result = of_record(condition.fn, condition.with_key)(key, value)
    column = result if isinstance(result, Column) else F.lit(result)
    return F.coalesce(column, F.lit(False))


def _text(types: Types) -> str:
    return f"({types.key.simpleString()}, {types.value.simpleString()})"
