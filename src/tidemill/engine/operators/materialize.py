"""Which tables keep rows of their own, and which of them know the old value of a row that changes."""

from __future__ import annotations

from tidemill.engine.lowering import Lowering
from tidemill.topology import Topology
from tidemill.topology.nodes import (
    Cogroup,
    ForeignKeyJoin,
    How,
    Node,
    StoreSpec,
    StreamAggregate,
    StreamTableJoin,
    Suppress,
    TableAggregate,
    TableFilter,
    TableMapValues,
    TableSource,
    TableTableJoin,
    ToTable,
)

_STEPS = (TableFilter, TableMapValues)


def store_name(
    low: Lowering, node: TableSource | ToTable | TableFilter | TableMapValues | TableTableJoin
) -> str | None:
    """The name of the store a table keeps, or None where it needs none."""
    store = node.store
    if store is None:
        return None
    return store.name if is_materialized(low.topology, node) else None


def is_materialized(topology: Topology, node: Node) -> bool:
    """Whether a table keeps rows: it was given a queryable store, always aggregates, or somebody asks it."""
    if isinstance(node, StreamAggregate | TableAggregate | Cogroup | ForeignKeyJoin | Suppress):
        return True
    store: StoreSpec | None = getattr(node, "store", None)
    if store is not None and store.queryable:
        return True
    return isinstance(node, TableSource | ToTable) and _is_asked(topology, node)


def knows_old(topology: Topology, node: Node) -> bool:
    """Whether a change of this table comes with the row's old value."""
    if isinstance(node, _STEPS):
        told = knows_old(topology, topology[node.parents[0]])
        if is_materialized(topology, node):
            # A filter asks whoever can tell, so as not to delete what was never there.
            asks = isinstance(node, TableFilter) and told
            return asks or _old_is_wanted(topology, node) or _has_filter(topology, node)
        return told
    if isinstance(node, TableTableJoin) and not is_materialized(topology, node):
        return True
    if isinstance(node, TableSource | ToTable):
        # That somebody looks its rows up makes a table keep them, but not tell what they were.
        queryable = node.store is not None and node.store.queryable
        return queryable or _old_is_wanted(topology, node)
    return is_materialized(topology, node)


def _is_asked(topology: Topology, node: Node) -> bool:
    """Whether a step downstream looks rows up, or needs old values, be it through steps without rows."""
    for child in topology.children(node.name):
        if isinstance(child, TableTableJoin | ForeignKeyJoin | TableAggregate | Suppress):
            return True
        if isinstance(child, StreamTableJoin) and child.parents[1] == node.name:
            return True
        if isinstance(child, _STEPS) and not is_materialized(topology, child) and _is_asked(topology, child):
            return True
    return False


def _has_filter(topology: Topology, node: Node) -> bool:
    """Whether a filter takes the rows of a table, be it through steps without rows."""
    return any(
        isinstance(child, TableFilter)
        or (
            isinstance(child, TableMapValues)
            and not is_materialized(topology, child)
            and _has_filter(topology, child)
        )
        for child in topology.children(node.name)
    )


def _old_is_wanted(topology: Topology, node: Node) -> bool:
    """Whether a step downstream asks for old values, be it through steps and joins."""
    for child in topology.children(node.name):
        if isinstance(child, ForeignKeyJoin | TableAggregate | Suppress):
            return True
        if isinstance(child, TableTableJoin):
            left, right = (parent == node.name for parent in child.parents)
            # A side whose rows come out alone must know which of its deletions are news.
            if (left and child.how is not How.INNER) or (right and child.how is How.OUTER):
                return True
        if isinstance(child, TableTableJoin | TableFilter | TableMapValues) and _old_is_wanted(
            topology, child
        ):
            return True
    return False
