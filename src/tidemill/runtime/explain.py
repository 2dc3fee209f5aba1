"""The plan of a topology as text: levels, steps, stores."""

from __future__ import annotations

from collections.abc import Iterator

from tidemill.engine.steps import Step, physical_plan
from tidemill.topology import Topology


def explain(topology: Topology) -> str:
    """One paragraph per level: a level is one stateful operator of the query, shuffles lie between them."""
    plan = physical_plan(topology)
    lines = [f"one Spark query, {plan.depth} level{'s' * (plan.depth != 1)}"]
    for level in range(plan.depth):
        lines.append(f"level {level}{' (behind a shuffle)' if level else ''}")
        lines += [f"  {line}" for step in plan.on_level(level) for line in _step(topology, step)]
    return "\n".join(lines)


def _step(topology: Topology, step: Step) -> Iterator[str]:
    node = step.node
    inputs = [f"{edge.parent} (shuffled)" if edge.shuffled else edge.parent for edge in step.inputs]
    source = f" <- {', '.join(inputs)}" if inputs else ""
    stores = [store.name for store in topology.stores_of(node.name)]
    kept = f" [store {', '.join(stores)}]" if stores else ""
    yield f"{step.name}: {type(node).__name__} in the kernel{source}{kept}"
