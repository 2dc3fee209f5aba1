"""CogroupedKStream: several grouped streams on their way into one aggregate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from tidemill.dsl import grouped, ktable
from tidemill.dsl.handle import Handle
from tidemill.topology.draft import Draft, Flow
from tidemill.topology.functions import arguments
from tidemill.topology.nodes import Cogroup
from tidemill.topology.stores import StoreOptions, materialized, windowed_key
from tidemill.windows import Windows

Function = Callable[..., Any]
Input = tuple[Handle, Function]


class Cogrouped(Handle):
    """What cogrouped streams share: their inputs, and how one node is made of them."""

    __slots__ = ("_inputs",)

    def __init__(self, draft: Draft, node: str, flow: Flow, inputs: tuple[Input, ...]) -> None:
        super().__init__(draft, node, flow)
        self._inputs = inputs

    def _cogrouped(
        self,
        init: Any,
        window: Windows | None,
        merger: Function | None,
        store: str | None,
        name: str | None,
        options: StoreOptions,
    ) -> ktable.KTable:
        if callable(init):
            arguments("init of aggregate", init, ())
        if merger is not None:
            arguments("merger of aggregate", merger, ("key", "a", "b"))
        first, *rest = (side for side, _ in self._inputs)
        step = first._stored("cogroup", name, store, *rest, window=window)
        key = first._flow.merged(side._flow for side in rest).key
        spec = materialized(step["name"], store, options, key=key, window=window)
        node = Cogroup(
            **step,
            init=init,
            aggregators=tuple(aggregator for _, aggregator in self._inputs),
            store=spec,
            window=window,
            merger=merger,
            key=key,
        )
        return self._table(node, self._flow.aggregated(windowed_key(spec.key, window), spec, window))


class CogroupedKStream(Cogrouped):
    """Grouped streams, each with its aggregator, that share keys and one aggregate."""

    __slots__ = ()

    def cogroup(self, other: grouped.KGroupedStream, aggregator: Function) -> CogroupedKStream:
        """Add a grouped stream with its own function of (key, value, aggregate).

        >>> from tidemill import StreamsBuilder
        >>> builder = StreamsBuilder()
        >>> a, b = builder.stream("a").group_by_key(), builder.stream("b").group_by_key()
        >>> a.cogroup(lambda key, value, n: n + 1).cogroup(b, lambda key, value, n: n - 1)
        <CogroupedKStream stream-of-a>
        """
        arguments("cogroup", aggregator, ("key", "value", "aggregate"))
        self._same_builder("cogroup", other)
        return CogroupedKStream(self._draft, self._node, self._flow, (*self._inputs, (other, aggregator)))

    def windowed_by(self, windows: Windows) -> WindowedCogroupedKStream:
        """Aggregate per key and window.

        >>> from tidemill import StreamsBuilder, windows
        >>> a = StreamsBuilder().stream("a").group_by_key().cogroup(lambda key, value, n: n + 1)
        >>> a.windowed_by(windows.tumbling("1 min")).aggregate(0)
        <KTable cogroup-of-a-tumbling>
        """
        grouped.check_windows(windows)
        return WindowedCogroupedKStream(self._draft, self._node, self._flow, self._inputs, windows)

    def aggregate(
        self,
        init: Any,
        *,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> ktable.KTable:
        """The table of the aggregate, which begins with `init` for each key.

        >>> from tidemill import StreamsBuilder
        >>> a = StreamsBuilder().stream("a").group_by_key().cogroup(lambda key, value, n: n + 1)
        >>> a.aggregate(0, store="totals")
        <KTable cogroup-totals>
        """
        return self._cogrouped(init, None, None, store, name, options)


class WindowedCogroupedKStream(Cogrouped):
    """Cogrouped streams in windows of time or of sessions."""

    __slots__ = ("_window",)

    def __init__(
        self, draft: Draft, node: str, flow: Flow, inputs: tuple[Input, ...], window: Windows
    ) -> None:
        super().__init__(draft, node, flow, inputs)
        self._window = window

    def aggregate(
        self,
        init: Any,
        *,
        merger: Function | None = None,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> ktable.KTable:
        """The table of the aggregate per key and window; session windows need `merger` of (key, a, b).

        >>> from tidemill import StreamsBuilder, windows
        >>> a = StreamsBuilder().stream("a").group_by_key().cogroup(lambda key, value, n: n + 1)
        >>> visits = a.windowed_by(windows.session("1 min"))
        >>> visits.aggregate(0, merger=lambda key, a, b: a + b, store="visits")
        <KTable cogroup-visits>
        """
        return self._cogrouped(init, self._window, merger, store, name, options)
