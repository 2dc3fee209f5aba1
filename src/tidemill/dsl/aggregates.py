"""Count, reduce and aggregate: the same three verbs for plain, time-windowed and session groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack, overload

from tidemill.dsl import ktable
from tidemill.dsl.handle import Handle
from tidemill.serde import primitive
from tidemill.serde.base import Serde
from tidemill.topology.functions import arguments, takes_key
from tidemill.topology.nodes import Count, Emit, Fold, Operation, Reduce, SparkAggregate, StreamAggregate
from tidemill.topology.stores import StoreOptions, materialized, windowed_key
from tidemill.windows import Windows

Function = Callable[..., Any]


class StreamAggregates(Handle):
    """Verbs that make a table of a grouped stream."""

    __slots__ = ()

    def count(
        self, *, store: str | None = None, name: str | None = None, **options: Unpack[StoreOptions]
    ) -> ktable.KTable:
        """How many records each group has.

        >>> from tidemill import StreamsBuilder
        >>> orders = StreamsBuilder().stream("orders").group_by_key().count(store="order-counts")
        >>> orders.queryable_store_name
        'order-counts'
        """
        return self._aggregated("count", Count(), store, name, options, primitive.long)

    def reduce(
        self,
        reducer: Function,
        *,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> ktable.KTable:
        """The first value of a group, then the function of (aggregate, value) with each next one.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("numbers").group_by_key().reduce(lambda a, b: a + b, store="sums")
        <KTable reduce-sums>
        """
        arguments("reduce", reducer, ("aggregate", "value"))
        return self._aggregated("reduce", Reduce(reducer), store, name, options, self._flow.value)

    @overload
    def aggregate(
        self,
        init: Function,
        fn: None = None,
        *,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> ktable.KTable: ...

    @overload
    def aggregate(
        self,
        init: Any,
        fn: Function,
        *,
        merger: Function | None = None,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> ktable.KTable: ...

    def aggregate(
        self,
        init: Any,
        fn: Function | None = None,
        *,
        merger: Function | None = None,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> ktable.KTable:
        """Any aggregate of Spark, or a fold of your own.

        With one function of (value) or (key, value) it is Spark's: `lambda key, value: F.sum(value)`. With
        two arguments it is a fold: `init`, then a function of (key, value, aggregate). A fold over session
        windows also needs `merger` of (key, a, b), which makes one aggregate of two sessions.

        >>> from tidemill import StreamsBuilder, serdes
        >>> numbers = StreamsBuilder().stream("numbers").group_by_key()
        >>> numbers.aggregate(lambda key, value: F.sum(value), store="sums")
        <KTable aggregate-sums>
        >>> numbers.aggregate(0, lambda key, value, total: total + value, store="totals", value=serdes.long)
        <KTable aggregate-totals>
        """
        if fn is None:
            spark = SparkAggregate(init, takes_key("aggregate", init))
            return self._aggregated("aggregate", spark, store, name, options)
        arguments("aggregate", fn, ("key", "value", "aggregate"))
        if callable(init):
            arguments("init of aggregate", init, ())
        if merger is not None:
            arguments("merger of aggregate", merger, ("key", "a", "b"))
        return self._aggregated("aggregate", Fold(init, fn, merger), store, name, options)

    def _aggregated(
        self,
        verb: str,
        op: Operation,
        store: str | None,
        name: str | None,
        options: StoreOptions,
        value: Serde | None = None,
    ) -> ktable.KTable:
        window, flow = self._windows(), self._flow
        step = self._stored(verb, name, store, window=window)
        spec = materialized(step["name"], store, options, key=flow.key, value=value, window=window)
        node = StreamAggregate(
            **step,
            op=op,
            store=spec,
            window=window,
            emit=self._emission(),
            key=flow.key,
            value=flow.value,
        )
        return self._table(node, flow.aggregated(windowed_key(spec.key, window), spec, window))

    def _windows(self) -> Windows | None:
        return None

    def _emission(self) -> Emit:
        return Emit.UPDATE
