"""Grouped streams with windows: TimeWindowedKStream and SessionWindowedKStream."""

from __future__ import annotations

from typing import Self

from tidemill.dsl.aggregates import StreamAggregates
from tidemill.place import here
from tidemill.topology import TopologyError
from tidemill.topology.draft import Draft, Flow
from tidemill.topology.nodes import Emit
from tidemill.windows import Windows


class WindowedKStream(StreamAggregates):
    """What windowed groups share: the windows, and when results go out."""

    __slots__ = ("_emit", "_window")

    def __init__(
        self, draft: Draft, node: str, flow: Flow, window: Windows, emit: Emit = Emit.UPDATE
    ) -> None:
        super().__init__(draft, node, flow)
        self._window = window
        self._emit = emit

    def emit_strategy(self, when: str) -> Self:
        """Emit each "update" (the default), or one final row per window on "close".

        >>> from tidemill import StreamsBuilder, windows
        >>> hourly = StreamsBuilder().stream("orders").group_by_key().windowed_by(windows.tumbling("1 h"))
        >>> hourly.emit_strategy("close").count()
        <KTable count-of-orders-tumbling>
        """
        try:
            chosen = Emit(when)
        except ValueError:
            raise TopologyError(
                f"`{when}` is no emit strategy", place=here(), remedy='write "update" or "close"'
            ) from None
        return type(self)(self._draft, self._node, self._flow, self._window, chosen)

    emit = emit_strategy

    def _windows(self) -> Windows:
        return self._window

    def _emission(self) -> Emit:
        return self._emit


class TimeWindowedKStream(WindowedKStream):
    """A grouped stream in tumbling, hopping, sliding, unlimited or custom windows.

    >>> from tidemill import StreamsBuilder, windows
    >>> StreamsBuilder().stream("orders").group_by_key().windowed_by(windows.sliding("10 s"))
    <TimeWindowedKStream stream-of-orders>
    """

    __slots__ = ()


class SessionWindowedKStream(WindowedKStream):
    """A grouped stream in session windows.

    >>> from tidemill import StreamsBuilder, windows
    >>> clicks = StreamsBuilder().stream("clicks").group_by_key().windowed_by(windows.session("30 min"))
    >>> clicks.aggregate(0, lambda key, value, n: n + 1, merger=lambda key, a, b: a + b, store="visits")
    <KTable aggregate-visits>
    """

    __slots__ = ()
