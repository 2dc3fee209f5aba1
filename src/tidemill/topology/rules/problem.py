"""How a rule says what is wrong with a node."""

from __future__ import annotations

from tidemill.topology.errors import TopologyError
from tidemill.topology.nodes import Node


def problem(node: Node, what: str, remedy: str) -> TopologyError:
    """A problem of one node, with its name and the user's line."""
    return TopologyError(what, node=node.name, place=node.place, remedy=remedy)
