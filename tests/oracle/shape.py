"""What a node gives: a stream or a table, of which value type, under plain or windowed keys."""

from __future__ import annotations

from functools import singledispatch

from oracle import functions as fn
from oracle import spec
from oracle.processors import PROCESSORS

_TABLES = (
    spec.Table,
    spec.ToTable,
    spec.Count,
    spec.Reduce,
    spec.Aggregate,
    spec.Cogroup,
    spec.TableJoin,
    spec.ForeignKeyJoin,
    spec.Suppress,
)
_KEEP_THEIR_INPUT = (spec.Filter, spec.FilterNot, spec.MapValues)


def inputs(node: spec.Node) -> tuple[spec.Node, ...]:
    """The nodes this one reads, in the order of its fields."""
    found: list[spec.Node] = []
    for value in vars(node).values():
        if isinstance(value, spec.Node):
            found.append(value)
        elif isinstance(value, tuple):
            found.extend(part for part in value if isinstance(part, spec.Node))
    return tuple(found)


def sources(node: spec.Node) -> dict[str, str]:
    """The topics a node reads, directly or not, with the type of their values."""
    if isinstance(node, spec.Stream | spec.Table | spec.GlobalTable):
        return {node.topic: node.value}
    return {topic: value for part in inputs(node) for topic, value in sources(part).items()}


def is_table(node: spec.Node) -> bool:
    if isinstance(node, _KEEP_THEIR_INPUT):
        return is_table(node.input)
    return isinstance(node, _TABLES)


def is_windowed(node: spec.Node) -> bool:
    match node:
        case spec.Count() | spec.Reduce() | spec.Aggregate() | spec.Cogroup():
            return node.window is not None
        case spec.SelectKey() | spec.GroupBy():
            return False
        case _:
            parts = inputs(node)
            return bool(parts) and is_windowed(parts[0])


@singledispatch
def value_type(node: spec.Node) -> str:
    """The type of a node's values; a step that has no row here keeps the type of its first input."""
    return value_type(inputs(node)[0])


@value_type.register(spec.Stream)
@value_type.register(spec.Table)
@value_type.register(spec.GlobalTable)
def _(node: spec.Stream | spec.Table | spec.GlobalTable) -> str:
    return node.value


@value_type.register
def _(node: spec.MapValues) -> str:
    return fn.lookup(fn.MAPPERS, node.mapper).result(value_type(node.input))


@value_type.register
def _(node: spec.Process) -> str:
    return fn.lookup(PROCESSORS, node.processor).result


@value_type.register
def _(node: spec.GroupBy) -> str:
    if is_table(node.input):
        return fn.lookup(fn.PAIRINGS, node.by).result(value_type(node.input))
    return value_type(node.input)


@value_type.register
def _(_: spec.Count) -> str:
    return spec.LONG


@value_type.register
def _(node: spec.Aggregate) -> str:
    table = is_table(node.grouped.input)
    fold = fn.lookup(fn.TABLE_FOLDS if table else fn.FOLDS, node.fold)
    return fold.add.result(value_type(node.grouped))


@value_type.register
def _(node: spec.Cogroup) -> str:
    return fn.lookup(fn.FOLDS, node.folds[0]).add.result(value_type(node.inputs[0]))


@value_type.register(spec.StreamJoin)
@value_type.register(spec.StreamTableJoin)
@value_type.register(spec.GlobalJoin)
@value_type.register(spec.TableJoin)
@value_type.register(spec.ForeignKeyJoin)
def _(
    node: spec.StreamJoin | spec.StreamTableJoin | spec.GlobalJoin | spec.TableJoin | spec.ForeignKeyJoin,
) -> str:
    return fn.lookup(fn.JOINERS, node.joiner).result(value_type(inputs(node)[0]))
