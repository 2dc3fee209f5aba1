"""Changelog topics: each change of a table, written behind the step that keeps its store, where asked for."""

from __future__ import annotations

from collections.abc import Iterator

from tidemill.serde.base import Serde
from tidemill.serde.windowed import session_windowed, time_windowed
from tidemill.topology.graph import Topology
from tidemill.topology.names import changelog_topic
from tidemill.topology.nodes import (
    Cogroup,
    Kind,
    Node,
    Sink,
    StoreKind,
    StoreSpec,
    StreamAggregate,
    Suppress,
    TableToStream,
)

_LONGER_MS = 24 * 60 * 60 * 1000
"""How long Kafka Streams keeps a changelog's records beyond the life of their window."""


def with_changelogs(topology: Topology, application_id: str) -> Topology:
    """The topology with a sink behind every table whose store is logged; it is what runs, not what is shown.

    >>> from tidemill import StreamsBuilder, serdes
    >>> builder = StreamsBuilder()
    >>> words = builder.stream("words", key=serdes.string, value=serdes.string)
    >>> _ = words.group_by_key().count(store="counts", logging=True)
    >>> with_changelogs(builder.build(), "shop").sink_topics
    ('shop-counts-changelog',)
    """
    added = [
        node for table, store in logged_tables(topology) for node in _written(table, store, application_id)
    ]
    return Topology.of((*topology, *added)) if added else topology


def changelogs(topology: Topology, application_id: str) -> dict[str, dict[str, str]]:
    """The changelog topics of a topology, with their settings: Kafka Streams' own, and over them the user's.

    >>> from tidemill import StreamsBuilder
    >>> builder = StreamsBuilder()
    >>> _ = builder.table("users", store="users", logging={"segment.ms": "60000"})
    >>> changelogs(builder.build(), "shop")
    {'shop-users-changelog': {'cleanup.policy': 'compact', 'segment.ms': '60000'}}
    """
    return {
        changelog_topic(application_id, store.name): _settings(store) | dict(store.changelog_config)
        for _, store in logged_tables(topology)
    }


def logged_tables(topology: Topology) -> Iterator[tuple[Node, StoreSpec]]:
    """Tables with a changelog topic, and their stores."""
    for node in topology:
        store = own_store(node)
        if store is not None and store.logging:
            yield node, store


def own_store(node: Node) -> StoreSpec | None:
    """The store that holds the very rows a table hands on; no other has a changelog."""
    store = getattr(node, "store", None)
    return store if node.kind is Kind.TABLE and not isinstance(node, Suppress) else None


def is_windowed(node: Node) -> bool:
    """Whether a node's store is addressed by key and window."""
    return isinstance(node, StreamAggregate | Cogroup) and node.window is not None


def _written(table: Node, store: StoreSpec, application_id: str) -> Iterator[Node]:
    rows, name = f"{store.name}-changelog-rows", f"{store.name}-changelog"
    yield TableToStream(name=rows, parents=(table.name,), place=table.place)
    topic = changelog_topic(application_id, store.name)
    key = _key(store) if is_windowed(table) else store.key
    yield Sink(name=name, parents=(rows,), place=table.place, topic=topic, key=key, value=store.value)


def _key(store: StoreSpec) -> Serde:
    assert store.key is not None, "a rule has seen to it"
    if store.kind is StoreKind.SESSION:
        return session_windowed(store.key)
    return time_windowed(store.key, changelog=True)


def _settings(store: StoreSpec) -> dict[str, str]:
    if store.retention is None:
        # Rows of plain tables live for ever, and so do those of unlimited windows.
        return {"cleanup.policy": "compact"}
    longer = str(store.retention + _LONGER_MS)
    if store.kind is StoreKind.VERSIONED:
        return {"cleanup.policy": "compact", "min.compaction.lag.ms": longer}
    return {"cleanup.policy": "compact,delete", "retention.ms": longer}
