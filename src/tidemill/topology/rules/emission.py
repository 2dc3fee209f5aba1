"""When results may go out: window close, suppression and joins that wait."""

from __future__ import annotations

from collections.abc import Iterator

from tidemill.time import duration_text
from tidemill.topology.errors import TopologyError
from tidemill.topology.graph import Topology
from tidemill.topology.nodes import (
    Cogroup,
    Emit,
    Fold,
    StoreKind,
    StreamAggregate,
    StreamTableJoin,
    Suppress,
    TableStep,
    UntilWindowCloses,
)
from tidemill.topology.rules.problem import problem
from tidemill.windows import CustomWindows, SessionWindows, UnlimitedWindows

_UNFIT = {
    UnlimitedWindows: "unlimited windows, which never close",
    CustomWindows: "windows of its own; suppress(suppressed.until_window_closes()) waits for those",
}


def close_is_emitted_only_where_windows_close(topology: Topology) -> Iterator[TopologyError]:
    """Emitting on close needs windows that close."""
    for node in topology:
        if isinstance(node, StreamAggregate | Cogroup) and node.emit is Emit.CLOSE:
            window = node.window
            if window is None or isinstance(window, UnlimitedWindows | CustomWindows):
                kind = "no windows" if window is None else _UNFIT[type(window)]
                yield problem(
                    node,
                    f"`{node.name}` emits on window close but has {kind}",
                    "use tumbling, hopping, sliding or session windows, or leave emit() out",
                )


def sessions_can_merge(topology: Topology) -> Iterator[TopologyError]:
    """A fold over sessions says how two of them become one."""
    for node in topology:
        match node:
            case StreamAggregate(window=SessionWindows(), op=Fold(merger=None)):
                pass
            case Cogroup(window=SessionWindows(), merger=None):
                pass
            case _:
                continue
        yield problem(
            node,
            f"`{node.name}` folds over session windows without a merger",
            "give merger=lambda key, a, b: ..., which makes one aggregate of two sessions",
        )


def suppress_knows_the_window(topology: Topology) -> Iterator[TopologyError]:
    """Waiting for a window's end needs a window; a versioned table is never suppressed."""
    for node in topology:
        if not isinstance(node, Suppress):
            continue
        if isinstance(node.until, UntilWindowCloses) and node.window is None:
            yield problem(
                node,
                f"`{node.name}` waits until a window closes, but no aggregation before it is windowed",
                "call windowed_by() before the aggregation, or use suppressed.until_time_limit()",
            )
        if _is_versioned(topology, node.parents[0]):
            yield problem(
                node,
                f"`{node.name}` suppresses a versioned table",
                "suppress a plain table: leave versioned= out",
            )


def grace_joins_have_history(topology: Topology) -> Iterator[TopologyError]:
    """A stream-table join that waits looks into the table's past."""
    for node in topology:
        if not isinstance(node, StreamTableJoin) or node.grace is None:
            continue
        history = _history(topology, node.parents[1])
        if history is None:
            yield problem(
                node,
                f"`{node.name}` waits {duration_text(node.grace)} but its table keeps no history",
                'declare the table with versioned="...", or leave grace= out',
            )
        elif history < node.grace:
            yield problem(
                node,
                f"`{node.name}` waits {duration_text(node.grace)} "
                f"but its table keeps only {duration_text(history)} of history",
                "make versioned= at least as long as grace=",
            )


def _is_versioned(topology: Topology, table: str) -> bool:
    return _history(topology, table) is not None


def _history(topology: Topology, table: str) -> int | None:
    node = topology[table]
    if isinstance(node, TableStep) and node.store is None:
        return _history(topology, node.parents[0])
    kept = (store.retention for store in node.owned_stores if store.kind is StoreKind.VERSIONED)
    return next(kept, None)
