"""Sinks: inside the kernel they only pass records to their output; topics and bytes come after it."""

from __future__ import annotations

from typing import Any

from tidemill.engine.lowering import Lowering, Types, lowers
from tidemill.engine.steps import Step
from tidemill.topology import TopologyError
from tidemill.topology.nodes import Sink


@lowers(Sink)
def sink(low: Lowering, step: Step) -> tuple[Any, Types]:
    """A sink passes its records on to the output."""
    assert isinstance(step.node, Sink)
    refuse_partitioner(step.node)
    return low.nodes.Pass(step.name), low.input_types(step)


def refuse_partitioner(node: Sink) -> None:
    """Records go to the partition of their key, as every Java client places them."""
    if node.partitioner is not None:
        raise TopologyError(
            "a sink cannot choose the partition of a record",
            node=node.name,
            place=node.place,
            remedy="leave partitioner= out: records are placed by the murmur2 hash of their key",
        )
