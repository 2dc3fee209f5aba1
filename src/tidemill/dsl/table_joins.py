"""The joins of a table with a table, by key or by a foreign key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from tidemill.dsl import ktable
from tidemill.dsl.handle import Handle
from tidemill.place import here
from tidemill.topology import TopologyError
from tidemill.topology.functions import joiner_takes_key, takes_key
from tidemill.topology.nodes import ForeignKeyJoin, How, TableTableJoin
from tidemill.topology.stores import StoreOptions, materialized

Function = Callable[..., Any]


class TableJoins(Handle):
    """Joins. A joiner takes (left, right) or (key, left, right); a side that is missing is null."""

    __slots__ = ()

    def join(
        self,
        other: ktable.KTable,
        joiner: Function,
        *,
        foreign_key: Function | None = None,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> ktable.KTable:
        """Join rows of equal keys, or with `foreign_key` of (value) or (key, value) the row it names.

        >>> from tidemill import StreamsBuilder
        >>> builder = StreamsBuilder()
        >>> orders, users, carts = builder.table("orders"), builder.table("users"), builder.table("carts")
        >>> users.join(carts, lambda user, cart: struct(user, cart), store="users-with-carts")
        <KTable join-users-with-carts>
        >>> orders.join(users, lambda order, user: user.name, foreign_key=lambda value: value.user_id)
        <KTable join-of-orders-and-users>
        """
        return self._joined("join", How.INNER, other, joiner, foreign_key, store, name, options)

    def left_join(
        self,
        other: ktable.KTable,
        joiner: Function,
        *,
        foreign_key: Function | None = None,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> ktable.KTable:
        """As `join`, and rows of this table without a partner come with null.

        >>> from tidemill import StreamsBuilder
        >>> builder = StreamsBuilder()
        >>> builder.table("a").left_join(builder.table("b"), lambda a, b: a, store="both")
        <KTable left-join-both>
        """
        return self._joined("left_join", How.LEFT, other, joiner, foreign_key, store, name, options)

    def outer_join(
        self,
        other: ktable.KTable,
        joiner: Function,
        *,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> ktable.KTable:
        """As `join`, and rows of both tables without a partner come with null.

        >>> from tidemill import StreamsBuilder
        >>> builder = StreamsBuilder()
        >>> builder.table("a").outer_join(builder.table("b"), lambda a, b: a, store="both")
        <KTable outer-join-both>
        """
        return self._joined("outer_join", How.OUTER, other, joiner, None, store, name, options)

    def _joined(
        self,
        verb: str,
        how: How,
        other: ktable.KTable,
        joiner: Function,
        foreign_key: Function | None,
        store: str | None,
        name: str | None,
        options: StoreOptions,
    ) -> ktable.KTable:
        if not isinstance(other, ktable.KTable):
            raise TopologyError(
                f"{verb} of a table takes another table, not {other!r}",
                place=here(),
                remedy="make it a table with to_table(), or turn it round: stream.join(table, ...)",
            )
        with_key = joiner_takes_key(verb, joiner)
        step = self._stored(verb, name, store, other)
        spec = materialized(step["name"], store, options, key=self._flow.key)
        flow = self._flow.new_value(spec.value)
        if foreign_key is None:
            node = TableTableJoin(**step, how=how, joiner=joiner, with_key=with_key, store=spec)
            return self._table(node, flow)
        extractor_with_key = takes_key(f"foreign_key= of {verb}", foreign_key)
        return self._table(
            ForeignKeyJoin(
                **step,
                how=how,
                joiner=joiner,
                with_key=with_key,
                key_extractor=foreign_key,
                extractor_with_key=extractor_with_key,
                store=spec,
            ),
            flow,
        )
