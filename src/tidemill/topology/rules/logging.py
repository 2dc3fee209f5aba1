"""Changelog topics: only what is a table has one, and its keys must be known."""

from __future__ import annotations

from collections.abc import Iterator

from tidemill.topology.changelogs import is_windowed, logged_tables, own_store
from tidemill.topology.errors import TopologyError
from tidemill.topology.graph import Topology
from tidemill.topology.rules.problem import problem


def only_tables_are_logged(topology: Topology) -> Iterator[TopologyError]:
    """Stores of joins of streams, of processors and of suppress hold what is no row of a table."""
    for node in topology:
        for store in node.owned_stores:
            if store.logging and store is not own_store(node):
                yield problem(
                    node,
                    f"the store `{store.name}` of `{node.name}` is no table, and has no changelog topic",
                    "leave logging= out: the checkpoint restores every store; "
                    "to share what a step hands on, write it with to()",
                )


def logged_windows_know_their_keys(topology: Topology) -> Iterator[TopologyError]:
    """The layout of a windowed key depends on its window, so its serde is not left to its type."""
    for node, store in logged_tables(topology):
        if is_windowed(node) and store.key is None:
            yield problem(
                node,
                f"the changelog topic of `{store.name}` has windowed keys, and their serde is not known",
                "give key=serdes.string or the like, here or where the topic is read",
            )
