"""Steps of tables, and the ways between tables and streams."""

from __future__ import annotations

from typing import Any

from tidemill.engine.lowering import Lowering, Types, lowers
from tidemill.engine.operators.materialize import knows_old, store_name
from tidemill.engine.operators.stateless import of_record
from tidemill.engine.steps import Step
from tidemill.topology.nodes import TableFilter, TableMapValues, TableToStream, ToTable


@lowers(ToTable)
def to_table(low: Lowering, step: Step) -> tuple[Any, Types]:
    """A stream read as a table."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, ToTable)
    key, value = low.java_type(types.key), low.java_type(types.value)
    return low.nodes.TableSource(
        step.name, key, value, store_name(low, node), low.is_cached(node.store)
    ), types


@lowers(TableToStream)
def table_to_stream(low: Lowering, step: Step) -> tuple[Any, Types]:
    """A table's changes as records."""
    return low.nodes.Pass(step.name), low.input_types(step)


@lowers(TableFilter)
def table_filter(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Rows of which the predicate holds."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, TableFilter)
    predicate = low.columns.of_record(node, of_record(node.predicate, node.with_key), types.key, types.value)
    return _step(low, step, predicate.evaluator, types, filters=True, negate=node.negate), types


@lowers(TableMapValues)
def table_map_values(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Rows with new values."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, TableMapValues)
    value = low.columns.of_record(node, of_record(node.fn, node.with_key), types.key, types.value)
    result = Types(types.key, value.type)
    return _step(low, step, value.evaluator, result, filters=False, negate=False), result


def _step(low: Lowering, step: Step, function: Any, types: Types, *, filters: bool, negate: bool) -> Any:
    node = step.node
    assert isinstance(node, TableFilter | TableMapValues)
    return low.nodes.TableStep(
        step.name,
        low.index[step.inputs[0].parent],
        function,
        filters,
        negate,
        knows_old(low.topology, node),
        low.java_type(types.key),
        low.java_type(types.value),
        store_name(low, node),
        low.is_cached(node.store),
    )
