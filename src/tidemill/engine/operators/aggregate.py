"""Aggregations of streams and tables, windowed or not."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, IntegralType, LongType, StructType, TimestampType

from tidemill.engine.columns import array_of
from tidemill.engine.lowering import Lowering, Partial, Types, lowers
from tidemill.engine.operators.stateless import of_record
from tidemill.engine.steps import Role, Step
from tidemill.engine.types import python_type
from tidemill.topology import TopologyError
from tidemill.topology.nodes import (
    Cogroup,
    Count,
    Emit,
    Fold,
    Function,
    Gather,
    Node,
    Reduce,
    SparkAggregate,
    StreamAggregate,
    TableAggregate,
)
from tidemill.windows import CustomWindows, SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows


@lowers(StreamAggregate)
def stream_aggregate(low: Lowering, step: Step) -> tuple[Any, Types]:
    """One aggregate per key, or per key and window."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, StreamAggregate)
    folder, result = _folder(low, node, node.op, types)
    if _can_combine(low, step, node) and folder.isCombinable():
        partial = python_type(folder.stateType())
        low.partials[step.name] = Partial(folder, Types(types.key, partial))
        folder = low.folds.MergingFolder(folder)
    return _aggregate(low, step, node, [folder], types.key, result)


@lowers(Cogroup)
def cogroup(low: Lowering, step: Step) -> tuple[Any, Types]:
    """One aggregate fed by several streams."""
    node = step.node
    assert isinstance(node, Cogroup)
    aggregate = None
    for slot in range(len(step.inputs)):
        # The first pass finds the type that holds all inputs' results, the second builds for that type.
        types = low.input_types(step, slot)
        aggregate = fold_type(low, node, node.init, node.aggregators[slot], types, aggregate)
    assert aggregate is not None
    folders = [
        _column_folder(low, node, node.init, fn, None, node.merger, low.input_types(step, slot), aggregate)
        for slot, fn in enumerate(node.aggregators)
    ]
    return _aggregate(low, step, node, folders, low.input_types(step).key, aggregate)


@lowers(TableAggregate, Role.REGROUP)
def regroup(low: Lowering, step: Step) -> tuple[Any, Types]:
    """What a table's change means for its old and its new group."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, TableAggregate)
    pair = low.columns.struct_of_record(node, node.group, types.key, types.value)
    assert isinstance(pair.type, StructType)
    key, value = (field.dataType for field in pair.type)
    return low.nodes.Regroup(step.name, pair.evaluator), Types(key, _parts(value))


@lowers(TableAggregate)
def table_aggregate(low: Lowering, step: Step) -> tuple[Any, Types]:
    """One aggregate per group of a table's rows."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, TableAggregate)
    assert isinstance(types.value, StructType)
    value = types.value["add"].dataType
    folder, result = _folder(low, node, node.op, Types(types.key, value))
    kernel = low.nodes.TableAggregate(
        step.name,
        low.java_type(types.key),
        low.java_type(value),
        folder,
        node.store.name,
        low.is_cached(node.store),
    )
    return kernel, Types(types.key, result)


def _can_combine(low: Lowering, step: Step, node: StreamAggregate) -> bool:
    """Whether nobody can tell: one result per key and batch goes out, and no window may close in between."""
    (edge,) = step.inputs
    sender = low.plan.levels.get(edge.parent)
    return (
        low.in_batches
        and low.is_cached(node.store)
        and node.window is None
        and edge.shuffled
        and sender is not None
        and not low.plan.is_python(sender)
    )


def windowed_key(key: DataType) -> StructType:
    """The key of a windowed table."""
    return StructType().add("key", key).add("start", TimestampType()).add("end", TimestampType())


def fold_type(
    low: Lowering, node: Node, init: Any, fn: Function, types: Types, at_least: DataType | None = None
) -> DataType:
    """The type an aggregate is kept in: its initial value's, or wider if the function's result needs it."""
    start = at_least or low.columns.of(node, lambda: _initial(init), {}).type
    for _ in range(3):
        arguments = {"key": types.key, "value": types.value, "aggregate": start}
        result = low.columns.of(node, fn, arguments).type
        if result == start:
            return start
        start = result
    return start


def _folder(low: Lowering, node: Node, op: Any, types: Types) -> tuple[Any, DataType]:
    match op:
        case Count():
            return low.folds.CountFolder(), LongType()
        case Reduce(fn=fn, subtractor=subtractor):
            arguments = {"aggregate": types.value, "value": types.value}
            evaluators = [
                None if f is None else low.columns.of(node, f, arguments, types.value).evaluator
                for f in (fn, subtractor)
            ]
            return low.folds.ReduceFolder(*evaluators, low.java_type(types.value)), types.value
        case Fold(init=init, fn=fn, merger=merger, subtractor=subtractor):
            result = fold_type(low, node, init, fn, types)
            return _column_folder(low, node, init, fn, subtractor, merger, types, result), result
        case Gather():
            return _gatherer(low, node, types)
        case SparkAggregate(fn=fn, with_key=with_key):
            return low.columns.spark_aggregate(node, of_record(fn, with_key), types.key, types.value)
    raise AssertionError(op)


def _column_folder(
    low: Lowering,
    node: Node,
    init: Any,
    fn: Function,
    subtractor: Function | None,
    merger: Function | None,
    types: Types,
    result: DataType,
) -> Any:
    arguments = {"key": types.key, "value": types.value, "aggregate": result}
    halves = {"key": types.key, "left": result, "right": result}

    def optional(f: Function | None, names: dict[str, DataType]) -> Any:
        return None if f is None else low.columns.of(node, f, names, result).evaluator

    return low.folds.ColumnFolder(
        low.columns.of(node, lambda: _initial(init), {}, result).evaluator,
        optional(fn, arguments),
        optional(subtractor, arguments),
        optional(merger, halves),
        low.java_type(result),
    )


def _gatherer(low: Lowering, node: Node, types: Types) -> tuple[Any, DataType]:
    """All values in an array; a struct around each, because null is a value, too."""
    result = ArrayType(StructType().add("value", types.value))
    folder = _column_folder(
        low,
        node,
        lambda: F.array().cast(result),
        lambda _key, value, values: F.concat(values, F.array(F.struct(value.alias("value")))),
        None,
        lambda _key, left, right: F.concat(left, right),
        types,
        result,
    )
    return folder, result


def _initial(init: Any) -> Any:
    value = init() if callable(init) else init
    return F.array().cast("array<string>") if isinstance(value, list) and not value else value


def _aggregate(
    low: Lowering,
    step: Step,
    node: StreamAggregate | Cogroup,
    folders: list[Any],
    key: DataType,
    result: DataType,
) -> tuple[Any, Types]:
    store, cached, java_key = node.store, low.is_cached(node.store), low.java_type(key)
    on_close = node.emit is Emit.CLOSE
    shared = (step.name, java_key, low.list(folders), store.name, cached)
    types = Types(windowed_key(key), result)
    match node.window:
        case None:
            return low.nodes.Aggregate(*shared), Types(key, result)
        case TimeWindows(size=size, advance=advance, grace=grace) as window:
            retention = store.retention or window.minimum_retention
            return low.nodes.TimeWindowAggregate(*shared, on_close, size, advance, grace, retention), types
        case SlidingWindows(difference=difference, grace=grace):
            # The oldest record that is still taken looks back two more lengths for its neighbours.
            retention = max(store.retention or 0, 3 * difference + grace + 1)
            return low.nodes.SlidingAggregate(*shared, on_close, difference, grace, retention), types
        case SessionWindows(gap=gap, grace=grace):
            # A late record may still join a session that ended one gap before it.
            retention = max(store.retention or 0, 2 * gap + grace + 1)
            return low.nodes.SessionAggregate(*shared, on_close, gap, grace, retention), types
        case UnlimitedWindows(start=start):
            return low.nodes.TimeWindowAggregate(*shared, start), types
        case CustomWindows(size=size, grace=grace) as window:
            retention = store.retention or window.minimum_retention
            assign = _assigned(low, node, window)
            return low.nodes.CustomWindowAggregate(*shared, assign, size, grace, retention), types
    raise AssertionError(node.window)


def _assigned(low: Lowering, node: Node, window: CustomWindows) -> Any:
    """The user's windows of a time, as an array of (start, end) in milliseconds."""
    arguments = {"timestamp": TimestampType()}
    type_ = low.columns.type_of(node, lambda time: array_of(window.assign(time)), arguments)
    pair = type_.elementType if isinstance(type_, ArrayType) else None
    if not isinstance(pair, StructType) or len(pair) != 2 or not all(_is_time(f.dataType) for f in pair):
        raise TopologyError(
            f"the windows are {type_.simpleString()}, not pairs of start and end",
            node=node.name,
            place=node.place,
            remedy="return [(start, end), ...] of timestamps, or of milliseconds since the epoch",
        )

    def millis(bound: Column, kind: DataType) -> Column:
        return F.unix_millis(bound) if isinstance(kind, TimestampType) else bound.cast("long")

    def in_millis(each: Column) -> Column:
        start, end = (millis(each[field.name], field.dataType) for field in pair)
        return F.struct(start.alias("start"), end.alias("end"))

    return low.columns.of(
        node, lambda time: F.transform(array_of(window.assign(time)), in_millis), arguments
    ).evaluator


def _is_time(type_: DataType) -> bool:
    return isinstance(type_, TimestampType | IntegralType)


def _parts(value: DataType) -> StructType:
    return StructType().add("add", value).add("remove", value)
