"""Sinks: inside the kernel they only pass records to their output; topics and bytes come after it."""

from __future__ import annotations

from functools import partial
from typing import Any

from tidemill.engine import serdes
from tidemill.engine.columns import Columns
from tidemill.engine.lowering import Lowering, Types, lowers
from tidemill.engine.steps import Step
from tidemill.topology.nodes import Sink


@lowers(Sink)
def sink(low: Lowering, step: Step) -> tuple[Any, Types]:
    """A sink passes its records on to the output."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, Sink)
    check_sink(low.columns, node, types)
    return low.nodes.Pass(step.name), types


def check_sink(columns: Columns, node: Sink, types: Types) -> None:
    """Refuse a sink whose topic cannot be chosen or whose serdes do not fit what comes to it."""
    if node.chooser is not None:
        columns.type_of(node, node.chooser, {"key": types.key, "value": types.value})
    for part, serde, type_ in (("key", node.key, types.key), ("value", node.value, types.value)):
        if serde is not None:
            columns.type_of(node, partial(serdes.encode, serde), {part: type_})
