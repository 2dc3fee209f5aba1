"""The physical plan: what runs between two shuffles, and in which order these parts follow each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from tidemill.engine.gathered import gathering, regrouping
from tidemill.engine.tiers import python_steps, runs_in_python
from tidemill.serde.primitive import BytesSerde, NumberSerde, StringSerde
from tidemill.topology import StoreSpec, Topology, TopologyError
from tidemill.topology.nodes import (
    ForeignKeyJoin,
    GlobalStore,
    Kind,
    Node,
    Process,
    ReadOnlyStore,
    Sink,
    TableAggregate,
    TableToStream,
    TopicSource,
    ToTable,
    TransformValues,
)
from tidemill.topology.partitioning import shuffles

_WHOLE = (">h", ">i", ">q")
"""Layouts of whole numbers."""

_ROWS = "/rows"
"""Ends the name of a table's copy."""


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
    """Steps of parts that records enter under a new key: their tasks follow keys, not topic partitions."""
    python: frozenset[str] = frozenset()
    """Steps that run in Python. A level is either theirs or the kernel's."""
    meetings: tuple[frozenset[str], ...] = ()
    """Keyed steps after all: sources that share tasks with each other alone, so that Kafka's partitions would
    do if they are alike."""

    @property
    def depth(self) -> int:
        """How many levels there are."""
        return max(self.levels.values(), default=0) + 1

    def on_level(self, level: int) -> list[Step]:
        """The steps of a level, and the global tables they look things up in."""
        here = [step for step in self.steps.values() if self.levels.get(step.name) == level]
        asked = {edge.parent for step in here for edge in step.inputs}
        if any(isinstance(step.node, Process | TransformValues) for step in here):
            # A processor may ask for any global store without having named it.
            asked |= {step.name for step in self.steps.values() if isinstance(step.node, TopicSource)}
        return [
            step
            for step in self.steps.values()
            if step in here or (step.name in asked and step.name not in self.levels)
        ]

    def is_python(self, level: int) -> bool:
        """Whether a level runs in Python."""
        return any(self.levels.get(name) == level for name in self.python)


def physical_plan(topology: Topology) -> PhysicalPlan:
    """Split nodes into steps and put every step on a level."""
    steps = {step.name: step for step in _expanded(topology)}
    python = python_steps(steps)
    if python:
        steps = _around_python(topology, steps, python)
    steps, roaming, part = _without_loops(steps, python)
    together = _parts(steps, roaming, lambda edge, _: not edge.shuffled)
    levels = _levels(steps, part, roaming, python)
    entered = {together[step.name] for step in steps.values() if any(edge.shuffled for edge in step.inputs)}
    # Tasks also follow keys where several sources meet: their topics need not be partitioned alike.
    readers = Counter(
        together[n] for n, s in steps.items() if n in levels and isinstance(s.node, TopicSource)
    )
    met = {name for name, count in readers.items() if count > 1}
    keyed = frozenset(name for name in levels if together[name] in entered | met)
    meetings = tuple(
        frozenset(n for n in here if isinstance(steps[n].node, TopicSource))
        for here in ([n for n in levels if together[n] == part] for part in sorted(met - entered))
        if all(levels[n] == 0 for n in here) and _are_alike([steps[n].node for n in here])
    )
    return PhysicalPlan(steps, levels, keyed, python, meetings)


def _are_alike(nodes: Iterable[Node]) -> bool:
    """Whether equal keys have equal bytes in all topics that are read: then their partitions can be equal."""
    sources = [node for node in nodes if isinstance(node, TopicSource)]
    named = all(source.pattern is None and source.key is not None for source in sources)
    serdes = {source.key for source in sources}
    return named and len(serdes) == 1 and _has_one_form(serdes.pop())


def _has_one_form(serde: object) -> bool:
    """Whether a serde writes a value in one way only; 0.0 and -0.0 are equal and have different bytes."""
    return isinstance(serde, StringSerde | BytesSerde) or (
        isinstance(serde, NumberSerde) and serde.layout in _WHOLE
    )


def _without_loops(
    steps: dict[str, Step], python: frozenset[str]
) -> tuple[dict[str, Step], set[str], dict[str, str]]:
    """The steps, those of them that are everywhere, and which share an operator.

    What a part gets back from itself under a new key is taken in by another part behind it, to which its
    other records go on in the same task.
    """
    apart: set[str] = set()
    while True:
        roaming = {name for name, step in steps.items() if step.node.kind is Kind.GLOBAL_TABLE}
        if any(isinstance(step.node, Process | TransformValues) for step in steps.values()):
            roaming |= {name for name, step in steps.items() if _is_global_store(step.node)}

        def stays(edge: Edge, child: str) -> bool:
            return _stays(edge, child, python) and (edge.parent in apart) == (child in apart)  # noqa: B023

        part = _parts(steps, roaming, stays)
        late = _fed_by_themselves(steps, part, roaming)
        if not late or late <= apart or any(name in python for name in late):
            return steps, roaming, part
        apart |= late
        steps = _with_rows(steps, lambda edge, child: edge.parent not in apart and child in apart)  # noqa: B023
        apart |= {name for name in steps if name.endswith(_ROWS) and _feeds(steps, name, apart)}


def _fed_by_themselves(steps: Mapping[str, Step], part: Mapping[str, str], roaming: set[str]) -> set[str]:
    """Steps that records come to from their own part by way of another."""
    left: dict[str, set[str]] = {}
    found = set()
    for name, step in steps.items():
        came = set()
        for edge in step.inputs:
            if edge.parent not in roaming and name not in roaming:
                came |= left[edge.parent]
                came |= {part[edge.parent]} if edge.shuffled or part[edge.parent] != part[name] else set()
        left[name] = came
        if part.get(name) in came:
            found.add(name)
    return found


def _feeds(steps: Mapping[str, Step], name: str, those: set[str]) -> bool:
    return any(edge.parent == name for each in those if each in steps for edge in steps[each].inputs)


def _expanded(topology: Topology) -> Iterable[Step]:
    cut = {(shuffle.parent, shuffle.child) for shuffle in shuffles(topology)}
    for node in topology.in_order():
        edges = tuple(Edge(parent, (parent, node.name) in cut) for parent in node.parents)
        match node:
            case TableAggregate():
                regroup = f"{node.name}/regroup"
                yield Step(regroup, regrouping(node), Role.REGROUP, (Edge(node.parents[0]),))
                yield Step(node.name, node, Role.WHOLE, (Edge(regroup, shuffled=True),))
            case ForeignKeyJoin():
                inner = gathering(node)
                yield from _foreign_key_join(node if inner is None else inner)
                if inner is not None:
                    yield Step(node.name, node, Role.WHOLE, (Edge(inner.name),))
            case _:
                inner = gathering(node)
                if inner is not None:
                    yield Step(inner.name, inner, Role.WHOLE, edges)
                    edges = (Edge(inner.name),)
                yield Step(node.name, node, Role.WHOLE, edges)


def _foreign_key_join(node: Node) -> Iterable[Step]:
    left, right = node.parents
    subscribe, match_ = f"{node.name}/subscribe", f"{node.name}/match"
    yield Step(subscribe, node, Role.SUBSCRIBE, (Edge(left),))
    yield Step(match_, node, Role.MATCH, (Edge(subscribe, shuffled=True), Edge(right)))
    yield Step(node.name, node, Role.WHOLE, (Edge(match_, shuffled=True), Edge(subscribe, shuffled=True)))


def _around_python(topology: Topology, steps: Mapping[str, Step], python: frozenset[str]) -> dict[str, Step]:
    """The steps with what a Python tier adds: stores of other steps come in, its tables become rows again."""
    fed = {}
    for name, step in steps.items():
        inputs = step.inputs
        if name in python and isinstance(step.node, Process | TransformValues):
            inputs += tuple(Edge(owner) for owner in read_only_stores(topology, step.node).values())
        fed[name] = replace(step, inputs=inputs)
    return _with_rows(fed, lambda edge, child: edge.parent in python and child not in python)


def _with_rows(steps: Mapping[str, Step], leaves: Callable[[Edge, str], bool]) -> dict[str, Step]:
    """The steps with a copy of each table's rows where it is looked into from another operator."""
    found: dict[str, Step] = {}
    for name, step in steps.items():
        inputs = list(step.inputs)
        for slot, edge in enumerate(inputs):
            parent = steps[edge.parent].node
            goes_on = parent.kind is Kind.TABLE and not edge.shuffled and leaves(edge, name)
            if goes_on and not isinstance(step.node, Sink | TableToStream):
                rows = edge.parent + _ROWS
                if rows not in found:
                    store = StoreSpec(name=rows, queryable=True)
                    table = ToTable(name=rows, place=parent.place, store=store)
                    found[rows] = Step(rows, table, Role.WHOLE, (Edge(edge.parent),))
                inputs[slot] = Edge(rows)
        found[name] = replace(step, inputs=tuple(inputs))
    return found


def read_only_stores(topology: Topology, node: Process | TransformValues) -> dict[str, str]:
    """Stores of tables and aggregations that a processor reads, and the step that owns each."""
    owners = {
        store.name: topology.store_owner(store.name) for store in node.stores if store.name in topology.stores
    }
    return {
        store: owner.name
        for store, owner in owners.items()
        if not runs_in_python(owner) and owner.kind is not Kind.GLOBAL_TABLE
    }


def _is_global_store(node: Node) -> bool:
    return isinstance(node, GlobalStore) and not isinstance(node, ReadOnlyStore)


def _stays(edge: Edge, child: str, python: frozenset[str]) -> bool:
    """Whether a record goes on in the same operator."""
    return not edge.shuffled and (edge.parent in python) == (child in python)


def _parts(
    steps: Mapping[str, Step], roaming: set[str], joins: Callable[[Edge, str], bool]
) -> dict[str, str]:
    """Steps that must share a task, as a step's name to the name of its part."""
    leader = {name: name for name in steps if name not in roaming}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    for step in steps.values():
        for edge in step.inputs:
            if edge.parent not in roaming and step.name not in roaming and joins(edge, step.name):
                leader[find(step.name)] = find(edge.parent)
    users: dict[str, str] = {}
    for name, step in steps.items():
        if name not in roaming and runs_in_python(step.node):
            own = [store.name for store in step.node.owned_stores]
            for store in {*own, *(store.name for store in getattr(step.node, "stores", ()))}:
                leader[find(name)] = find(users.setdefault(store, name))
    return {name: find(name) for name in leader}


def _levels(
    steps: Mapping[str, Step], part: Mapping[str, str], roaming: set[str], python: frozenset[str]
) -> dict[str, int]:
    feeds: dict[str, set[str]] = {}
    in_python = {part[name] for name in python if name not in roaming}
    for step in steps.values():
        for edge in step.inputs:
            if edge.parent in roaming or step.name in roaming:
                continue
            if edge.shuffled or part[edge.parent] != part[step.name]:
                feeds.setdefault(part[step.name], set()).add(part[edge.parent])
    level: dict[str, int] = {}

    def place(name: str, above: tuple[str, ...]) -> int:
        if name in above:
            raise _loop(steps, part, name, in_python.intersection(above))
        if name not in level:
            least = max((place(feed, (*above, name)) + 1 for feed in feeds.get(name, ())), default=0)
            # Two kinds of operators take turns; levels that stay empty are taken out below.
            turn = (name in in_python) == bool(least % 2)
            level[name] = least if turn or not in_python else least + 1
        return level[name]

    placed = {name: place(part[name], ()) for name in steps if name not in roaming}
    used = {old: new for new, old in enumerate(sorted(set(placed.values())))}
    return {name: used[old] for name, old in placed.items()}


def _loop(
    steps: Mapping[str, Step], part: Mapping[str, str], name: str, in_python: set[str]
) -> TopologyError:
    if in_python:
        step = next(step for step in steps.values() if part.get(step.name) in in_python)
        return TopologyError(
            f"what `{step.node.name}` forwards comes back to a step that it gets its own records from",
            node=step.node.name,
            place=step.node.place,
            remedy="write its records to a topic with to() and read that topic as a stream of its own",
        )
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


def placed_by_partition(topology: Topology) -> list[TopicSource]:
    """Sources whose records find their task by the partition they were read from."""
    plan = physical_plan(topology)
    return [
        step.node
        for step in source_steps(plan)
        if isinstance(step.node, TopicSource) and step.name in plan.levels and step.name not in plan.keyed
    ]


def keeping_pace(topology: Topology, *, in_place: bool) -> str:
    """Which partitions must not run ahead of each other over several batches, as `KafkaIn.align` wants it."""
    plan = physical_plan(topology)
    met = {name for group in plan.meetings for name in group}
    moved = {step.name for step in plan.steps.values() if any(edge.shuffled for edge in step.inputs)}
    keyed = {step.name for step in source_steps(plan) if step.name in plan.keyed}
    if moved or not (in_place or not keyed) or not keyed <= met:
        return "all"
    return "partition" if keyed else "none"


def meeting_topics(topology: Topology) -> set[str]:
    """Topics whose records meet those of others, perhaps where they are read."""
    plan = physical_plan(topology)
    nodes = [plan.steps[name].node for group in plan.meetings for name in group]
    return {topic for node in nodes if isinstance(node, TopicSource) for topic in node.topics}


def source_steps(plan: PhysicalPlan) -> list[Step]:
    """The steps that read topics."""
    return [step for step in plan.steps.values() if isinstance(step.node, TopicSource)]
