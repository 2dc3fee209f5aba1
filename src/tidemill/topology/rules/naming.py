"""Names of nodes, stores and topics."""

from __future__ import annotations

from collections.abc import Iterator

from tidemill.topology.errors import TopologyError
from tidemill.topology.graph import Topology
from tidemill.topology.names import LONGEST, problem_with
from tidemill.topology.nodes import Node, Sink, TopicSource
from tidemill.topology.rules.problem import problem


def names_are_allowed(topology: Topology) -> Iterator[TopologyError]:
    """Kafka's own rule for topic names holds for nodes, stores and topics."""
    for node in topology:
        for what, name in _names(node):
            wrong = problem_with(name)
            if wrong is not None:
                yield problem(node, f"the {what} name `{name}` {wrong}", _REMEDY)


def _names(node: Node) -> Iterator[tuple[str, str]]:
    yield "node", node.name
    yield from (("store", store.name) for store in node.owned_stores)
    if isinstance(node, TopicSource):
        yield from (("topic", topic) for topic in node.topics)
    if isinstance(node, Sink) and node.topic is not None:
        yield "topic", node.topic


_REMEDY = f"use letters, digits, `.`, `_` and `-`, at most {LONGEST} of them"
