"""Where a function may take Python values instead of Columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from tidemill.topology.errors import TopologyError
from tidemill.topology.functions import holds_python
from tidemill.topology.graph import Topology
from tidemill.topology.nodes import (
    Cogroup,
    Filter,
    FlatMap,
    FlatMapValues,
    Foreach,
    GroupBy,
    Join,
    Map,
    MapValues,
    Node,
    Peek,
    Print,
    Process,
    SelectKey,
    StreamAggregate,
    TableAggregate,
    TransformValues,
)
from tidemill.topology.rules.problem import problem

_CALLED: Mapping[type[Node], tuple[str, ...]] = {
    Filter: ("predicate",),
    MapValues: ("fn",),
    FlatMapValues: ("fn",),
    SelectKey: ("fn",),
    GroupBy: ("fn",),
    Map: ("fn",),
    FlatMap: ("fn",),
    Peek: ("action",),
    Foreach: ("action",),
    Print: ("mapper",),
    Process: ("supplier",),
    TransformValues: ("supplier",),
    StreamAggregate: ("op",),
    TableAggregate: ("op",),
    Cogroup: ("init", "aggregators"),
    Join: ("joiner",),
}
"""Kinds of steps that can call Python for a record, and the fields their functions are in."""


def python_is_called_where_it_can_be(topology: Topology) -> Iterator[TopologyError]:
    """All other functions become part of compiled code, so they take Columns."""
    for node in topology:
        called = _called(node)
        for field in fields(node):
            if field.name not in called and holds_python(getattr(node, field.name)):
                yield problem(
                    node,
                    f"`{field.name}` of `{node.name}` takes Columns, not a function of Python values",
                    "write it with Columns; before it, map_values(python_fn(...)) of a stream or"
                    " transform_values() of a table can compute what it needs",
                )
        if isinstance(node, Cogroup) and node.window is not None and holds_python(node):
            yield problem(
                node,
                f"`{node.name}` folds several streams in windows by functions of Python values",
                "write the aggregators with Columns, or merge() the streams and aggregate() with python_fn()",
            )


def _called(node: Node) -> tuple[str, ...]:
    return next((names for kind, names in _CALLED.items() if isinstance(node, kind)), ())
