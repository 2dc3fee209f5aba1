"""KGroupedStream: a stream whose records are grouped by key, waiting for an aggregation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from tidemill.dsl import cogrouped, windowed
from tidemill.dsl.aggregates import StreamAggregates
from tidemill.place import here
from tidemill.topology import TopologyError
from tidemill.windows import (
    CustomWindows,
    SessionWindows,
    SlidingWindows,
    TimeWindows,
    UnlimitedWindows,
    Windows,
)


class KGroupedStream(StreamAggregates):
    """A grouped stream. It is no step of its own; the aggregation that follows is."""

    __slots__ = ()

    @overload
    def windowed_by(self, windows: SessionWindows) -> windowed.SessionWindowedKStream: ...

    @overload
    def windowed_by(
        self, windows: TimeWindows | SlidingWindows | UnlimitedWindows | CustomWindows
    ) -> windowed.TimeWindowedKStream: ...

    def windowed_by(self, windows: Windows) -> windowed.TimeWindowedKStream | windowed.SessionWindowedKStream:
        """Group each key's records by windows of time too.

        >>> from tidemill import StreamsBuilder, windows
        >>> orders = StreamsBuilder().stream("orders").group_by_key()
        >>> orders.windowed_by(windows.tumbling("1 hour")).count()
        <KTable count-of-orders-tumbling>
        """
        check_windows(windows)
        kind = (
            windowed.SessionWindowedKStream
            if isinstance(windows, SessionWindows)
            else windowed.TimeWindowedKStream
        )
        return kind(self._draft, self._node, self._flow, windows)

    def cogroup(self, aggregator: Callable[..., Any]) -> cogrouped.CogroupedKStream:
        """Begin one aggregate of several streams; the function takes (key, value, aggregate).

        >>> from tidemill import StreamsBuilder
        >>> builder = StreamsBuilder()
        >>> carts, sales = builder.stream("carts").group_by_key(), builder.stream("sales").group_by_key()
        >>> both = carts.cogroup(lambda key, value, total: total + 1)
        >>> both.cogroup(sales, lambda key, value, total: total + 100).aggregate(0)
        <KTable cogroup-of-carts-and-sales>
        """
        return cogrouped.CogroupedKStream(self._draft, self._node, self._flow, ()).cogroup(self, aggregator)


def check_windows(windows: Windows) -> None:
    """Refuse what does not group records by time."""
    if not isinstance(windows, Windows):
        raise TopologyError(
            f"windowed_by takes windows, not {windows!r}",
            place=here(),
            remedy='write windows.tumbling("10 seconds"), or hopping, sliding, session or unlimited',
        )
