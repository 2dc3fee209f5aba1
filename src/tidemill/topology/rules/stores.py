"""Stores: one owner per name, and long enough lives."""

from __future__ import annotations

from collections.abc import Iterator

from tidemill.time import duration_text
from tidemill.topology.errors import TopologyError
from tidemill.topology.graph import Topology
from tidemill.topology.nodes import (
    Cogroup,
    Node,
    Process,
    StoreSpec,
    StreamAggregate,
    StreamStreamJoin,
    TransformValues,
)
from tidemill.topology.rules.problem import problem
from tidemill.windows import JoinWindows, Windows


def store_names_are_unique(topology: Topology) -> Iterator[TopologyError]:
    """A store has one owner; only processors may share one, under one declaration."""
    owners: dict[str, tuple[Node, StoreSpec]] = {}
    for node in topology:
        for store in node.owned_stores:
            owner, declared = owners.setdefault(store.name, (node, store))
            shared = _may_share(owner) and _may_share(node) and declared == store
            if owner is not node and not shared:
                yield problem(
                    node,
                    f"`{owner.name}` and `{node.name}` both keep a store named `{store.name}`",
                    "give one of them another store=",
                )


def retention_covers_the_window(topology: Topology) -> Iterator[TopologyError]:
    """A windowed store lives at least as long as its windows take records."""
    for node in topology:
        window = _window(node)
        least = None if window is None else window.minimum_retention
        for store in node.owned_stores:
            if least is not None and store.retention is not None and store.retention < least:
                yield problem(
                    node,
                    f"the store `{store.name}` keeps {duration_text(store.retention)}, "
                    f"but its windows take records for {duration_text(least)}",
                    f"give retention= of at least {duration_text(least)}, or leave it out",
                )


def _may_share(node: Node) -> bool:
    return isinstance(node, Process | TransformValues)


def _window(node: Node) -> Windows | JoinWindows | None:
    return node.window if isinstance(node, StreamAggregate | Cogroup | StreamStreamJoin) else None
