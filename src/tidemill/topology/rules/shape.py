"""The shape of the graph: parents that exist, no cycles, and what may follow what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tidemill.topology.errors import TopologyError
from tidemill.topology.graph import Topology
from tidemill.topology.nodes import (
    ForeignKeyJoin,
    Kind,
    Node,
    Process,
    StreamGlobalJoin,
    StreamTableJoin,
    Suppress,
    TableAggregate,
    TableStep,
    TableTableJoin,
    TableToStream,
    TopicSource,
)
from tidemill.topology.rules.problem import problem


def parents_exist(topology: Topology) -> Iterator[TopologyError]:
    """A node reads only from nodes of the same topology."""
    for node in topology:
        for parent in node.parents:
            if parent not in topology.nodes:
                yield problem(
                    node,
                    f"`{node.name}` reads from `{parent}`, which does not exist",
                    f"add `{parent}`, or name one of: {', '.join(topology.nodes)}",
                )
        if not node.parents and not isinstance(node, TopicSource):
            yield problem(node, f"`{node.name}` reads from nothing", "name at least one parent")


def there_are_no_cycles(topology: Topology) -> Iterator[TopologyError]:
    """No node waits for itself."""
    try:
        topology.in_order()
    except TopologyError as error:
        yield error


def there_is_a_source(topology: Topology) -> Iterator[TopologyError]:
    """A topology reads something."""
    if not topology.sources:
        yield TopologyError(
            "the topology reads no topic", remedy='begin with builder.stream("...") or builder.table("...")'
        )


def parents_are_of_the_right_kind(topology: Topology) -> Iterator[TopologyError]:
    """Steps on tables follow tables, steps on streams follow streams."""
    for node in topology:
        for parent, wanted in zip(node.parents, _wanted(node), strict=False):
            kind = topology[parent].kind
            if kind is not wanted and not _is_processor_input(node, kind):
                yield problem(
                    node,
                    f"{node.type_name} `{node.name}` needs a {wanted}, but `{parent}` is a {kind}",
                    _REMEDY.get((kind, wanted), "choose another parent"),
                )


def _wanted(node: Node) -> tuple[Kind, ...]:
    match node:
        case StreamTableJoin():
            return (Kind.STREAM, Kind.TABLE)
        case StreamGlobalJoin():
            return (Kind.STREAM, Kind.GLOBAL_TABLE)
        case TableTableJoin() | ForeignKeyJoin():
            return (Kind.TABLE, Kind.TABLE)
        case TableStep() | TableToStream() | TableAggregate() | Suppress():
            return (Kind.TABLE,)
        case _:
            return (Kind.STREAM,) * len(node.parents)


def _is_processor_input(node: Node, kind: Kind) -> bool:
    return isinstance(node, Process) and kind is not Kind.NOTHING


_REMEDY: Final = {
    (Kind.TABLE, Kind.STREAM): "turn the table into a stream with to_stream()",
    (Kind.STREAM, Kind.TABLE): "turn the stream into a table with to_table()",
}
