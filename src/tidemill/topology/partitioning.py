"""Where records change their partition, and the parts of a topology between these places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemill.topology.nodes import (
    ForeignKeyJoin,
    GlobalStore,
    Join,
    Kind,
    Node,
    Process,
    ReadOnlyStore,
    Repartition,
    TableAggregate,
    TransformValues,
)

if TYPE_CHECKING:
    from tidemill.topology.graph import Topology


@dataclass(frozen=True, slots=True)
class Shuffle:
    """An edge on which records change their partition; `topic` is its name without the application id."""

    parent: str
    child: str
    topic: str


@dataclass(frozen=True, slots=True)
class SubTopology:
    """A part of a topology that keeps records in their partition."""

    index: int
    nodes: tuple[str, ...]
    is_global: bool = False


def shuffles(topology: Topology) -> tuple[Shuffle, ...]:
    """The edges into a step that needs equal keys together, after a step that changed the key."""
    rekeyed = _rekeyed(topology)
    found: dict[tuple[str, str], Shuffle] = {}
    for node in topology:
        for side, parent in enumerate(node.parents):
            if _is_shuffled(node, side, rekeyed[parent]):
                found[parent, node.name] = Shuffle(parent, node.name, _topic(node, side))
    return tuple(found.values())


def sub_topologies(topology: Topology) -> tuple[SubTopology, ...]:
    """The parts of the graph when cut at shuffles and global tables; a shared store holds parts together."""
    groups = {name: {name} for name in topology.nodes}
    cut = {(shuffle.parent, shuffle.child) for shuffle in shuffles(topology)}
    for first, second in _ties(topology, cut):
        merged = groups[first] | groups[second]
        groups.update(dict.fromkeys(merged, merged))
    parts = dict.fromkeys(tuple(n for n in topology.nodes if n in groups[name]) for name in topology.nodes)
    return tuple(
        SubTopology(index, names, is_global=all(is_global(topology[n]) for n in names))
        for index, names in enumerate(parts)
    )


def is_global(node: Node) -> bool:
    """Whether every worker holds the whole of what the node reads."""
    return node.kind is Kind.GLOBAL_TABLE or (
        isinstance(node, GlobalStore) and not isinstance(node, ReadOnlyStore)
    )


def _rekeyed(topology: Topology) -> dict[str, bool]:
    state: dict[str, bool] = {}
    for node in topology.in_order():
        if node.needs_key or isinstance(node, Repartition):
            state[node.name] = False
        else:
            state[node.name] = node.changes_key or any(state[parent] for parent in node.parents)
    return state


def _is_shuffled(node: Node, side: int, rekeyed: bool) -> bool:
    if isinstance(node, Repartition | TableAggregate):
        return True
    if isinstance(node, ForeignKeyJoin):
        return side == 1
    return node.needs_key and rekeyed


def _topic(node: Node, side: int) -> str:
    if isinstance(node, Repartition):
        return node.topic
    if isinstance(node, ForeignKeyJoin):
        return f"{node.name}-subscription-response"
    if isinstance(node, Join):
        return f"{node.name}-{('left', 'right')[side]}-repartition"
    return f"{node.name}-repartition" if len(node.parents) == 1 else f"{node.name}-{side + 1}-repartition"


def _ties(topology: Topology, cut: set[tuple[str, str]]) -> list[tuple[str, str]]:
    edges = [
        (parent, node.name)
        for node in topology
        for parent in node.parents
        if (parent, node.name) not in cut and not is_global(topology[parent])
    ]
    owner = {store.name: node.name for node in topology for store in node.owned_stores}
    shared = [
        (owner[store.name], node.name)
        for node in topology
        if isinstance(node, Process | TransformValues)
        for store in node.stores
        if store.name in owner and not is_global(topology[owner[store.name]])
    ]
    return edges + shared
