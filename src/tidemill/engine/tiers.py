"""Which steps run in Python: users' processors and functions of Python values, and what lies between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tidemill.topology import Topology
from tidemill.topology.functions import holds_python
from tidemill.topology.nodes import (
    Foreach,
    GlobalStore,
    Merge,
    Node,
    Peek,
    Print,
    Process,
    Sink,
    StreamSource,
    TableToStream,
    TransformValues,
)

if TYPE_CHECKING:
    from tidemill.engine.steps import Step

_PYTHON = (Process, TransformValues, GlobalStore, Peek, Foreach, Print)
_NEUTRAL = (StreamSource, Merge, TableToStream, Sink)
"""Steps that only hand records on: they run wherever their neighbours do."""


def runs_in_python(node: Node) -> bool:
    """Whether a step calls the user's Python for every record."""
    if isinstance(node, Process | TransformValues) and isinstance(node.supplier, str):
        return False
    return isinstance(node, _PYTHON) or holds_python(node)


def uses_python(topology: Topology) -> bool:
    """Whether any step of a topology does."""
    return any(runs_in_python(node) for node in topology)


def python_steps(steps: Mapping[str, Step]) -> frozenset[str]:
    """The names of all steps that run in the Python tier."""
    chosen = {name for name, step in steps.items() if runs_in_python(step.node)}
    children: dict[str, list[str]] = {}
    for name, step in steps.items():
        for edge in step.inputs:
            if not edge.shuffled:
                children.setdefault(edge.parent, []).append(name)

    def meets(name: str) -> set[bool]:
        """On which tiers the steps are that a source's records come to first."""
        found: set[bool] = set()
        for child in children.get(name, ()):
            if isinstance(steps[child].node, _NEUTRAL) and child not in chosen:
                found |= meets(child)
            else:
                found.add(child in chosen)
        return found

    chosen |= {
        name
        for name, step in steps.items()
        if isinstance(step.node, StreamSource) and name not in chosen and meets(name) == {True}
    }
    for name, step in steps.items():
        if isinstance(step.node, _NEUTRAL) and step.inputs:
            stays = all(edge.parent in chosen and not edge.shuffled for edge in step.inputs)
            chosen |= {name} if stays else set()
    return frozenset(chosen)
