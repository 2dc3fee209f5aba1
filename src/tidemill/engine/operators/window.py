"""Suppression: when a table's updates go out."""

from __future__ import annotations

from typing import Any

from tidemill.engine.lowering import Lowering, Types, lowers
from tidemill.engine.steps import Step
from tidemill.topology.nodes import Suppress, UntilTimeLimit, WhenFull
from tidemill.windows import SessionWindows, SlidingWindows

_NO_LIMIT = 2**63 - 1


@lowers(Suppress)
def suppress(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Hold updates back until their window is closed, or for a while."""
    node, types = step.node, low.input_types(step)
    assert isinstance(node, Suppress)
    if isinstance(node.until, UntilTimeLimit):
        until_close, wait, slack = False, node.until.limit, 0
    else:
        until_close = True
        wait = getattr(node.window, "grace", 0)
        if isinstance(node.window, SessionWindows):
            wait += node.window.gap
        # Sliding and session windows still take a record at end + grace: only the next moment is final.
        slack = 1 if isinstance(node.window, SessionWindows | SlidingWindows) else 0
    kernel = low.nodes.Suppress(
        step.name,
        low.java_type(types.key),
        low.java_type(types.value),
        low.headers_type,
        node.store.name,
        until_close,
        wait,
        slack,
        _NO_LIMIT if node.max_records is None else node.max_records,
        _NO_LIMIT if node.max_bytes is None else node.max_bytes,
        node.when_full is WhenFull.EMIT_EARLY,
    )
    return kernel, types
