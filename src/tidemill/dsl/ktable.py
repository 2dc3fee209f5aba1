"""KTable: the latest value of each key, as it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Unpack

from tidemill.dsl import grouped_table, kstream
from tidemill.dsl.processing import connected_stores, processor_name
from tidemill.dsl.suppressed import Suppressed
from tidemill.dsl.table_joins import TableJoins
from tidemill.place import here
from tidemill.serde.base import Serde
from tidemill.topology import StoreSpec, TopologyError
from tidemill.topology.functions import KEY_VALUE, arguments, takes_key
from tidemill.topology.nodes import TableFilter, TableMapValues, TableToStream, TransformValues
from tidemill.topology.stores import StoreOptions, check_serde, materialized

Function = Callable[..., Any]


class KTable(TableJoins):
    """A table. Every verb returns a new object and leaves this one as it is.

    >>> from tidemill import StreamsBuilder
    >>> builder = StreamsBuilder()
    >>> users = builder.table("users", store="users")
    >>> users.filter(lambda value: value.active).to_stream().to("active-users")
    >>> print(builder.build().describe())
    Topologies:
       Sub-topology: 0
        Source: table-users-source (topics: [users])
          --> table-users
        Processor: table-users (stores: [users])
          --> filter-of-users
          <-- table-users-source
        Processor: filter-of-users (stores: [])
          --> to-stream-of-users
          <-- table-users
        Processor: to-stream-of-users (stores: [])
          --> to-active-users
          <-- filter-of-users
        Sink: to-active-users (topic: active-users)
          <-- to-stream-of-users
    <BLANKLINE>
    """

    __slots__ = ()

    @property
    def queryable_store_name(self) -> str | None:
        """The name of the store that can be queried, or None where the user named none.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().table("users").queryable_store_name is None
        True
        """
        stores = self._draft.nodes[self._node].owned_stores
        return next((store.name for store in stores if store.queryable), None)

    def filter(
        self,
        predicate: Function,
        *,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> KTable:
        """Keep the rows of which the predicate of (value) or (key, value) holds.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().table("users").filter(lambda value: value.active, store="active-users")
        <KTable filter-active-users>
        """
        return self._filtered("filter", predicate, store, name, options, negate=False)

    def filter_not(
        self,
        predicate: Function,
        *,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> KTable:
        """Drop the rows of which the predicate of (value) or (key, value) holds.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().table("users").filter_not(lambda value: value.active)
        <KTable filter-not-of-users>
        """
        return self._filtered("filter_not", predicate, store, name, options, negate=True)

    def map_values(
        self,
        mapper: Function,
        *,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> KTable:
        """Replace the value of each row; a null result deletes the row.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().table("users").map_values(lambda key, value: value.name, store="names")
        <KTable map-values-names>
        """
        with_key = takes_key("map_values", mapper)
        step = self._stored("map_values", name, store) if store else self._at("map_values", name)
        spec = self._optional_store(step["name"], store, options, None)
        node = TableMapValues(**step, fn=mapper, with_key=with_key, store=spec)
        return self._table(node, self._flow.new_value(check_serde("value", options.get("value"))))

    def transform_values(
        self,
        supplier: Function | str,
        *,
        stores: Iterable[str | StoreSpec] = (),
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> KTable:
        """Replace the value of each row by a Python object with state of its own.

        >>> from tidemill import StreamsBuilder, ValueTransformer
        >>> class Smooth(ValueTransformer): ...
        >>> StreamsBuilder().table("prices").transform_values(Smooth)
        <KTable smooth-of-prices>
        """
        step = self._stored(processor_name("transform_values", supplier), name, store)
        value = check_serde("value", options.get("value"))
        spec = self._optional_store(step["name"], store, options, None)
        node = TransformValues(**step, supplier=supplier, store=spec, value=value)
        self._draft.connect(node.name, (*connected_stores(supplier), *stores))
        return self._table(node, self._flow.new_value(value))

    def to_stream(self, mapper: Function | None = None, *, name: str | None = None) -> kstream.KStream:
        """The changes of the table as a stream; with a function of (key, value) under new keys.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().table("users").to_stream()
        <KStream to-stream-of-users>
        """
        stream = self._stream(TableToStream(**self._at("to_stream", name)))
        return stream if mapper is None else stream.select_key(mapper)

    def suppress(self, suppressed: Suppressed, *, name: str | None = None) -> KTable:
        """Hold updates back, until the window closes or for a time.

        >>> from tidemill import StreamsBuilder, suppressed, windows
        >>> orders = StreamsBuilder().stream("orders").group_by_key()
        >>> hourly = orders.windowed_by(windows.tumbling("1 hour", grace="5 min")).count(store="hourly")
        >>> hourly.suppress(suppressed.until_window_closes())
        <KTable suppress-of-hourly>
        """
        if not isinstance(suppressed, Suppressed):
            raise TopologyError(
                f"suppress takes what suppressed.until_... makes, not {suppressed!r}",
                place=here(),
                remedy="write suppressed.until_window_closes() or suppressed.until_time_limit(...)",
            )
        step = self._at("suppress", name, durable=True)
        options: StoreOptions = {"caching": False, "logging": suppressed.logging}
        store = f"{step['name']}-store"
        spec = materialized(store, None, options, key=self._flow.key, value=self._flow.value)
        return self._table(suppressed.node(step, spec, self._flow.window))

    def group_by(
        self,
        mapper: Function,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        name: str | None = None,
    ) -> grouped_table.KGroupedTable:
        """Group the rows anew: the function of (key, value) returns the pair of new key and value.

        >>> from tidemill import StreamsBuilder
        >>> users = StreamsBuilder().table("users")
        >>> users.group_by(lambda key, value: (value.city, value), name="by-city").count()
        <KTable count-of-by-city>
        """
        arguments("group_by", mapper, KEY_VALUE)
        flow = self._flow.new_key().new_value()
        known = flow.regrouped(check_serde("key", key), check_serde("value", value), name)
        return grouped_table.KGroupedTable(self._draft, self._node, known, mapper)

    def _filtered(
        self,
        verb: str,
        predicate: Function,
        store: str | None,
        name: str | None,
        options: StoreOptions,
        *,
        negate: bool,
    ) -> KTable:
        with_key = takes_key(verb, predicate)
        step = self._stored(verb, name, store) if store else self._at(verb, name)
        spec = self._optional_store(step["name"], store, options, self._flow.value)
        return self._table(
            TableFilter(**step, predicate=predicate, with_key=with_key, negate=negate, store=spec)
        )

    def _optional_store(
        self, node: str, store: str | None, options: StoreOptions, value: Serde | None
    ) -> StoreSpec | None:
        if store is None and options.get("versioned") is None:
            if options.get("logging"):
                raise TopologyError(
                    f"`{node}` keeps no store, and a changelog topic is one of a store",
                    node=node,
                    place=here(),
                    remedy='name one: store="..."',
                )
            return None
        return materialized(node, store, options, key=self._flow.key, value=value)
