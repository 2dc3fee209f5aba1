"""Joins of streams and tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql.types import BooleanType, DataType, IntegerType, LongType, StructType

from tidemill.engine.columns import Function
from tidemill.engine.lowering import Lowering, Types, lowers
from tidemill.engine.operators.materialize import store_name
from tidemill.engine.operators.stateless import of_record
from tidemill.engine.steps import Role, Step
from tidemill.topology import TopologyError
from tidemill.topology.nodes import (
    ForeignKeyJoin,
    How,
    Join,
    Node,
    StreamGlobalJoin,
    StreamStreamJoin,
    StreamTableJoin,
    TableTableJoin,
)


@lowers(StreamStreamJoin)
def stream_stream(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Pairs within a window of time."""
    node, left, right = step.node, low.input_types(step, 0), low.input_types(step, 1)
    assert isinstance(node, StreamStreamJoin)
    _same_keys(node, left.key, right.key)
    joined = _joiner(low, node, left.key, left.value, right.value)
    kernel = low.nodes.StreamJoin(
        step.name,
        low.java_type(left.key),
        low.java_type(left.value),
        low.java_type(right.value),
        joined.evaluator,
        node.window.before,
        node.window.after,
        node.window.grace,
        node.how is not How.INNER,
        node.how is How.OUTER,
        node.left_store.name,
        node.right_store.name,
    )
    return kernel, Types(left.key, joined.type)


@lowers(StreamTableJoin)
def stream_table(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Each record with the table's row of its key."""
    node, stream, table = step.node, low.input_types(step, 0), low.input_types(step, 1)
    assert isinstance(node, StreamTableJoin)
    _same_keys(node, stream.key, table.key)
    buffer = None if node.buffer is None else node.buffer.name
    return _lookup(low, step, node, None, stream, table, grace=node.grace or 0, buffer=buffer)


@lowers(StreamGlobalJoin)
def stream_global(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Each record with a global table's row of a key computed from it."""
    node, stream, table = step.node, low.input_types(step, 0), low.input_types(step, 1)
    assert isinstance(node, StreamGlobalJoin)
    selector = low.columns.of_record(node, node.key_selector, stream.key, stream.value)
    _same_keys(node, selector.type, table.key)
    return _lookup(low, step, node, selector.evaluator, stream, table, grace=0, buffer=None)


@lowers(TableTableJoin)
def table_table(low: Lowering, step: Step) -> tuple[Any, Types]:
    """The rows of two tables under one key."""
    node, left, right = step.node, low.input_types(step, 0), low.input_types(step, 1)
    assert isinstance(node, TableTableJoin)
    _same_keys(node, left.key, right.key)
    joined = _joiner(low, node, left.key, left.value, right.value)
    kernel = low.nodes.TableJoin(
        step.name,
        low.index[step.inputs[0].parent],
        low.index[step.inputs[1].parent],
        joined.evaluator,
        node.how is not How.INNER,
        node.how is How.OUTER,
        low.java_type(left.key),
        low.java_type(joined.type),
        store_name(low, node),
        low.is_cached(node.store),
    )
    return kernel, Types(left.key, joined.type)


@lowers(ForeignKeyJoin, Role.SUBSCRIBE)
def foreign_key_subscribe(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Which left row refers to which right key."""
    node, left = step.node, low.input_types(step)
    assert isinstance(node, ForeignKeyJoin)
    reference = _reference(low, node, left)
    right = low.types[node.parents[1]]
    _same_keys(node, reference.type, right.key)
    joined = _joiner(low, node, left.key, left.value, right.value)
    kernel = low.nodes.ForeignKeySubscribe(
        step.name, reference.evaluator, joined.evaluator, node.how is How.LEFT
    )
    return kernel, Types(reference.type, _request(left))


@lowers(ForeignKeyJoin, Role.MATCH)
def foreign_key_match(low: Lowering, step: Step) -> tuple[Any, Types]:
    """The right side answers those who refer to it."""
    node, left, right = step.node, low.types[step.node.parents[0]], low.input_types(step, 1)
    assert isinstance(node, ForeignKeyJoin)
    joined = _joiner(low, node, left.key, left.value, right.value)
    kernel = low.nodes.ForeignKeyJoin(
        step.name,
        low.index[step.inputs[1].parent],
        low.java_type(right.key),
        low.java_type(left.key),
        low.java_type(left.value),
        joined.evaluator,
        node.how is How.LEFT,
        f"{node.store.name}.subscriptions",
    )
    return kernel, Types(left.key, answer_type(joined.type))


@lowers(ForeignKeyJoin)
def foreign_key_result(low: Lowering, step: Step) -> tuple[Any, Types]:
    """The answers, back under the left key."""
    node, answers = step.node, low.input_types(step)
    assert isinstance(node, ForeignKeyJoin)
    assert isinstance(answers.value, StructType)
    result = answers.value["result"].dataType
    cached = low.is_cached(node.store) and node.store.queryable
    kernel = low.nodes.ForeignKeyResult(
        step.name, low.java_type(answers.key), low.java_type(result), node.store.name, cached
    )
    return kernel, Types(answers.key, result)


def direct_answer_types(low: Lowering, node: ForeignKeyJoin) -> Types:
    """What the left side answers by itself: the second output of the subscribing step."""
    left, right = low.types[node.parents[0]], low.types[node.parents[1]]
    joined = _joiner(low, node, left.key, left.value, right.value)
    return Types(left.key, answer_type(joined.type))


def answer_type(result: DataType) -> StructType:
    """The struct of an answer in a foreign-key join."""
    return StructType().add("version", LongType()).add("result", result).add("gone", BooleanType())


def _request(left: Types) -> StructType:
    return (
        StructType()
        .add("key", left.key)
        .add("value", left.value)
        .add("version", LongType())
        .add("instruction", IntegerType())
    )


def _reference(low: Lowering, node: ForeignKeyJoin, left: Types) -> Function:
    extractor = of_record(node.key_extractor, node.extractor_with_key)
    return low.columns.of_record(node, extractor, left.key, left.value)


def _lookup(
    low: Lowering,
    step: Step,
    node: StreamTableJoin | StreamGlobalJoin,
    selector: Any,
    stream: Types,
    table: Types,
    *,
    grace: int,
    buffer: str | None,
) -> tuple[Any, Types]:
    joined = _joiner(low, node, stream.key, stream.value, table.value)
    kernel = low.nodes.StreamTableJoin(
        step.name,
        low.index[step.inputs[1].parent],
        selector,
        joined.evaluator,
        node.how is How.LEFT,
        grace,
        buffer,
        low.java_type(stream.key),
        low.java_type(stream.value),
        low.headers_type,
    )
    return kernel, Types(stream.key, joined.type)


def _joiner(low: Lowering, node: Join, key: DataType, left: DataType, right: DataType) -> Function:
    fn: Callable[..., Any] = node.joiner if node.with_key else lambda _key, l, r: node.joiner(l, r)  # noqa: E741
    return low.columns.of(node, fn, {"key": key, "left": left, "right": right})


def _same_keys(node: Node, left: DataType, right: DataType) -> None:
    if left != right:
        raise TopologyError(
            f"the keys differ: {left.simpleString()} on the left, {right.simpleString()} on the right",
            node=node.name,
            place=node.place,
            remedy="give both sides keys of one type, for instance with select_key",
        )
