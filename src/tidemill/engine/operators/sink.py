"""Sinks: inside the kernel they only pass records to their output; topics and bytes come after it."""

from __future__ import annotations

from typing import Any

from tidemill.engine.lowering import Lowering, Types, lowers
from tidemill.engine.steps import Step
from tidemill.topology.nodes import Sink


@lowers(Sink)
def sink(low: Lowering, step: Step) -> tuple[Any, Types]:
    """A sink passes its records on to the output."""
    return low.nodes.Pass(step.name), low.input_types(step)
