"""KGroupedTable: a table whose rows are grouped anew, waiting for an aggregation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from tidemill.dsl import ktable
from tidemill.dsl.handle import Handle
from tidemill.serde import primitive
from tidemill.serde.base import Serde
from tidemill.topology.draft import Draft, Flow
from tidemill.topology.functions import arguments
from tidemill.topology.nodes import Count, Fold, Reduce, TableAggregate
from tidemill.topology.stores import StoreOptions, materialized

Function = Callable[..., Any]


class KGroupedTable(Handle):
    """A grouped table. When a row changes, its old value is taken back before the new one is added."""

    __slots__ = ("_mapper",)

    def __init__(self, draft: Draft, node: str, flow: Flow, mapper: Function) -> None:
        super().__init__(draft, node, flow)
        self._mapper = mapper

    def count(
        self, *, store: str | None = None, name: str | None = None, **options: Unpack[StoreOptions]
    ) -> ktable.KTable:
        """How many rows each group has.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().table("users").group_by(lambda key, value: (value.city, value)).count()
        <KTable count-of-users>
        """
        return self._aggregated("count", Count(), store, name, options, primitive.long)

    def reduce(
        self,
        adder: Function,
        subtractor: Function,
        *,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> ktable.KTable:
        """Add values with one function of (aggregate, value), take them back with another.

        >>> from tidemill import StreamsBuilder
        >>> by_city = StreamsBuilder().table("users").group_by(lambda key, value: (value.city, value.points))
        >>> by_city.reduce(lambda a, b: a + b, lambda a, b: a - b, store="points-by-city")
        <KTable reduce-points-by-city>
        """
        arguments("adder of reduce", adder, ("aggregate", "value"))
        arguments("subtractor of reduce", subtractor, ("aggregate", "value"))
        op = Reduce(adder, subtractor)
        return self._aggregated("reduce", op, store, name, options, self._flow.value)

    def aggregate(
        self,
        init: Any,
        adder: Function,
        subtractor: Function,
        *,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> ktable.KTable:
        """Begin with `init`; add and take back with functions of (key, value, aggregate).

        >>> from tidemill import StreamsBuilder
        >>> by_city = StreamsBuilder().table("users").group_by(lambda key, value: (value.city, value.points))
        >>> by_city.aggregate(0, lambda key, value, n: n + value, lambda key, value, n: n - value)
        <KTable aggregate-of-users>
        """
        if callable(init):
            arguments("init of aggregate", init, ())
        arguments("adder of aggregate", adder, ("key", "value", "aggregate"))
        arguments("subtractor of aggregate", subtractor, ("key", "value", "aggregate"))
        fold = Fold(init, adder, subtractor=subtractor)
        return self._aggregated("aggregate", fold, store, name, options)

    def _aggregated(
        self,
        verb: str,
        op: Count | Reduce | Fold,
        store: str | None,
        name: str | None,
        options: StoreOptions,
        value: Serde | None = None,
    ) -> ktable.KTable:
        step = self._stored(verb, name, store)
        spec = materialized(step["name"], store, options, key=self._flow.key, value=value)
        flow = self._flow
        node = TableAggregate(**step, group=self._mapper, op=op, store=spec, key=flow.key, value=flow.value)
        return self._table(node, flow.aggregated(spec.key, spec, None))
