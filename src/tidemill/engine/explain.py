"""How a topology would run: for every node its tier, its level, and why it did not get a better one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tidemill.engine.handlers import Handlers
from tidemill.engine.stateless import is_stateless
from tidemill.engine.steps import PhysicalPlan, physical_plan
from tidemill.topology import Topology
from tidemill.topology.functions import PythonFunction
from tidemill.topology.nodes import Foreach, GlobalStore, Node, Peek, Print, Process, Sink, TransformValues
from tidemill.topology.nodes.source import TopicSource


class Tier(StrEnum):
    """What executes a node, fastest first."""

    CATALYST = "catalyst"
    KERNEL = "kernel"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Explanation:
    """One node of a plan: `level` counts the shuffles before it, None where the node is on every level."""

    node: str
    kind: str
    tier: Tier
    level: int | None
    why: str


def explain(topology: Topology, handlers: Handlers | None = None) -> list[Explanation]:
    """How each node of a topology runs, with these handlers of records that fail.

    >>> from tidemill import StreamsBuilder, serdes
    >>> builder = StreamsBuilder()
    >>> lines = builder.stream("lines", key=serdes.string, value=serdes.string)
    >>> lines.filter(lambda value: value.isNotNull()).to("clean")
    >>> print(explanation_text(explain(builder.build())))
    node             kind          tier      level  why
    stream-of-lines  StreamSource  catalyst  0      no state anywhere: one Spark projection
    filter-of-lines  Filter        catalyst  0      no state anywhere: one Spark projection
    to-clean         Sink          catalyst  0      no state anywhere: one Spark projection
    """
    plan = physical_plan(topology)
    if is_stateless(topology) and handlers is not None and handlers.record_by_record:
        why = "a handler is set: records are processed one at a time, where they were read"
        return [Explanation(n.name, n.type_name, Tier.KERNEL, 0, why) for n in topology]
    if is_stateless(topology):
        why = "no state anywhere: one Spark projection"
        return [Explanation(n.name, n.type_name, Tier.CATALYST, 0, why) for n in topology]
    return [_explained(plan, node) for node in topology]


def explanation_text(rows: Iterable[Explanation]) -> str:
    """A table for people."""
    head = ("node", "kind", "tier", "level", "why")
    lines = [
        head,
        *((r.node, r.kind, str(r.tier), "all" if r.level is None else str(r.level), r.why) for r in rows),
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(line[:4], widths, strict=True)), line[4]])
        for line in lines
    )


def _explained(plan: PhysicalPlan, node: Node) -> Explanation:
    level = plan.levels.get(node.name)
    if isinstance(node, Process | TransformValues | GlobalStore | Peek | Foreach | Print) or _has_python(
        node
    ):
        return Explanation(node.name, node.type_name, Tier.PYTHON, level, "your own Python runs here")
    if isinstance(node, TopicSource):
        why = "bytes are decoded by Spark; " + (
            "rows are kept where they are looked up" if node.stateful else "records enter their task"
        )
    elif isinstance(node, Sink):
        why = "bytes are encoded by Spark"
    elif node.stateful:
        why = "state: records of a task run one at a time, in order"
    else:
        why = "next to state: its Columns run as generated code inside the task"
    tier = Tier.CATALYST if isinstance(node, TopicSource | Sink) and not node.stateful else Tier.KERNEL
    if any(edge.shuffled for edge in plan.steps[node.name].inputs):
        why += "; the key changed before it, so records are shuffled"
    return Explanation(node.name, node.type_name, tier, level, why)


def _has_python(node: Node) -> bool:
    values = (getattr(node, name, None) for name in getattr(node, "__dataclass_fields__", ()))
    return any(isinstance(value, PythonFunction) for value in values) or isinstance(
        getattr(getattr(node, "op", None), "fn", None), PythonFunction
    )
