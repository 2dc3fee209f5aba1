"""The physical plan: what runs between two shuffles, and in which order these parts follow each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tidemill.topology import Topology, TopologyError
from tidemill.topology.nodes import ForeignKeyJoin, Kind, Node, TableAggregate, TopicSource
from tidemill.topology.partitioning import shuffles


class Role(StrEnum):
    """Which part of a node a step is; most nodes are one step."""

    WHOLE = "whole"
    REGROUP = "regroup"
    SUBSCRIBE = "subscribe"
    MATCH = "match"


@dataclass(frozen=True, slots=True)
class Edge:
    """A step's input: the step it comes from, and whether records change their partition on the way."""

    parent: str
    shuffled: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of work for the kernel. `inputs` are in the order of the kernel node's slots."""

    name: str
    node: Node
    role: Role = Role.WHOLE
    inputs: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class PhysicalPlan:
    """All steps, each after its inputs, and the level each one runs on.

    A level is one stateful operator of the query; records of a level reach a later one through a shuffle. A
    global table has no level: it is there wherever it is asked.
    """

    steps: Mapping[str, Step]
    levels: Mapping[str, int]
    keyed: frozenset[str]
    """Steps of parts that records enter under a new key, so that tasks follow keys and not topic partitions."""

    @property
    def depth(self) -> int:
        """How many levels there are."""
        return max(self.levels.values(), default=0) + 1

    def on_level(self, level: int) -> list[Step]:
        """The steps of a level, and the global tables they look things up in."""
        here = [step for step in self.steps.values() if self.levels.get(step.name) == level]
        asked = {edge.parent for step in here for edge in step.inputs}
        return [
            step
            for step in self.steps.values()
            if step in here or (step.name in asked and step.name not in self.levels)
        ]


def physical_plan(topology: Topology) -> PhysicalPlan:
    """Split nodes into steps and put every step on a level."""
    steps = {step.name: step for step in _expanded(topology)}
    roaming = {name for name, step in steps.items() if step.node.kind is Kind.GLOBAL_TABLE}
    part = _parts(steps, roaming)
    levels = _levels(steps, part, roaming)
    entered = {part[step.name] for step in steps.values() if any(edge.shuffled for edge in step.inputs)}
    keyed = frozenset(name for name in levels if part[name] in entered)
    return PhysicalPlan(steps, levels, keyed)


def _expanded(topology: Topology) -> Iterable[Step]:
    cut = {(shuffle.parent, shuffle.child) for shuffle in shuffles(topology)}
    for node in topology.in_order():
        edges = tuple(Edge(parent, (parent, node.name) in cut) for parent in node.parents)
        match node:
            case TableAggregate():
                regroup = f"{node.name}/regroup"
                yield Step(regroup, node, Role.REGROUP, (Edge(node.parents[0]),))
                yield Step(node.name, node, Role.WHOLE, (Edge(regroup, shuffled=True),))
            case ForeignKeyJoin():
                subscribe, match_ = f"{node.name}/subscribe", f"{node.name}/match"
                yield Step(subscribe, node, Role.SUBSCRIBE, (Edge(node.parents[0]),))
                yield Step(match_, node, Role.MATCH, (Edge(subscribe, shuffled=True), Edge(node.parents[1])))
                answers = (Edge(match_, shuffled=True), Edge(subscribe, shuffled=True))
                yield Step(node.name, node, Role.WHOLE, answers)
            case _:
                yield Step(node.name, node, Role.WHOLE, edges)


def _parts(steps: Mapping[str, Step], roaming: set[str]) -> dict[str, str]:
    """Steps that must share a task, as a step's name to the name of its part."""
    leader = {name: name for name in steps if name not in roaming}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    for step in steps.values():
        for edge in step.inputs:
            if not edge.shuffled and edge.parent not in roaming:
                leader[find(step.name)] = find(edge.parent)
    return {name: find(name) for name in leader}


def _levels(steps: Mapping[str, Step], part: Mapping[str, str], roaming: set[str]) -> dict[str, int]:
    feeds: dict[str, set[str]] = {}
    for step in steps.values():
        for edge in step.inputs:
            if edge.shuffled:
                feeds.setdefault(part[step.name], set()).add(part[edge.parent])
    level: dict[str, int] = {}

    def place(name: str, above: tuple[str, ...]) -> int:
        if name in above:
            raise _loop(steps, part, name)
        if name not in level:
            level[name] = max((place(feed, (*above, name)) + 1 for feed in feeds.get(name, ())), default=0)
        return level[name]

    return {name: place(part[name], ()) for name in steps if name not in roaming}


def _loop(steps: Mapping[str, Step], part: Mapping[str, str], name: str) -> TopologyError:
    step = next(
        step
        for step in steps.values()
        if part.get(step.name) == name and any(edge.shuffled for edge in step.inputs)
    )
    return TopologyError(
        f"`{step.node.name}` needs records under a new key next to the ones they were made from",
        node=step.node.name,
        place=step.node.place,
        remedy="write the re-keyed records to a topic with to() and read that topic as a stream of its own",
    )


def source_steps(plan: PhysicalPlan) -> list[Step]:
    """The steps that read topics."""
    return [step for step in plan.steps.values() if isinstance(step.node, TopicSource)]
