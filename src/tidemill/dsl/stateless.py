"""The stateless verbs of a stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidemill.dsl import branched, kstream
from tidemill.dsl.handle import Handle
from tidemill.serde.base import Serde
from tidemill.topology.functions import KEY_VALUE, arguments, takes_key
from tidemill.topology.nodes import (
    Filter,
    FlatMap,
    FlatMapValues,
    Foreach,
    Map,
    MapValues,
    Merge,
    Peek,
    Print,
    SelectKey,
)
from tidemill.topology.stores import check_serde

Function = Callable[..., Any]


class StatelessVerbs(Handle):
    """Verbs that look at each record alone.

    A function gets Spark Columns and returns one, like the functions of `F.transform`. It takes (value) or
    (key, value) where both are said to be possible.
    """

    __slots__ = ()

    def filter(self, predicate: Function, *, name: str | None = None) -> kstream.KStream:
        """Keep the records of which the predicate of (value) or (key, value) holds.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("numbers").filter(lambda value: value > 3)
        <KStream filter-of-numbers>
        """
        return self._filtered("filter", predicate, name, negate=False)

    def filter_not(self, predicate: Function, *, name: str | None = None) -> kstream.KStream:
        """Drop the records of which the predicate of (value) or (key, value) holds.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("numbers").filter_not(lambda key, value: key.isNull())
        <KStream filter-not-of-numbers>
        """
        return self._filtered("filter_not", predicate, name, negate=True)

    def map_values(self, mapper: Function, *, name: str | None = None) -> kstream.KStream:
        """Replace each value; the key stays, so nothing is shuffled afterwards.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("numbers").map_values(lambda value: value * 2, name="doubled")
        <KStream doubled>
        """
        with_key = takes_key("map_values", mapper)
        node = MapValues(**self._at("map_values", name), fn=mapper, with_key=with_key)
        return self._stream(node, self._flow.new_value())

    def flat_map_values(self, mapper: Function, *, name: str | None = None) -> kstream.KStream:
        """Replace each value by the elements of an array.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("lines").flat_map_values(lambda value: F.split(value, " "))
        <KStream flat-map-values-of-lines>
        """
        with_key = takes_key("flat_map_values", mapper)
        node = FlatMapValues(**self._at("flat_map_values", name), fn=mapper, with_key=with_key)
        return self._stream(node, self._flow.new_value())

    def map(self, mapper: Function, *, name: str | None = None) -> kstream.KStream:
        """Replace key and value: the function of (key, value) returns a pair of Columns.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").map(lambda key, value: (value.city, value.amount))
        <KStream map-of-orders>
        """
        arguments("map", mapper, KEY_VALUE)
        return self._stream(Map(**self._at("map", name), fn=mapper), self._flow.new_key().new_value())

    def flat_map(self, mapper: Function, *, name: str | None = None) -> kstream.KStream:
        """Replace each record by several: a function of (key, value) returns an array of struct(key, value).

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").flat_map(lambda key, value: F.transform(value.lines, line_pair))
        <KStream flat-map-of-orders>
        """
        arguments("flat_map", mapper, KEY_VALUE)
        return self._stream(
            FlatMap(**self._at("flat_map", name), fn=mapper), self._flow.new_key().new_value()
        )

    def select_key(
        self, mapper: Function, *, key: Serde | None = None, name: str | None = None
    ) -> kstream.KStream:
        """Replace each key by the result of a function of (key, value).

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").select_key(lambda key, value: value.city)
        <KStream select-key-of-orders>
        """
        arguments("select_key", mapper, KEY_VALUE)
        node = SelectKey(**self._at("select_key", name), fn=mapper, key=check_serde("key", key))
        return self._stream(node, self._flow.new_key(key))

    def merge(self, *others: kstream.KStream, name: str | None = None) -> kstream.KStream:
        """This stream and others as one, without an order between them.

        >>> from tidemill import StreamsBuilder
        >>> builder = StreamsBuilder()
        >>> builder.stream("web").merge(builder.stream("shop"), builder.stream("phone"))
        <KStream merge-of-web-and-shop-and-phone>
        """
        node = Merge(**self._at("merge", name, *others))
        return self._stream(node, self._flow.merged(other._flow for other in others))

    def split(self, *, name: str | None = None) -> branched.BranchedKStream:
        """Begin a split: each record goes to the first branch that takes it.

        >>> from tidemill import StreamsBuilder
        >>> orders = StreamsBuilder().stream("orders")
        >>> orders.split().branch(lambda value: value.amount > 100, name="big").default_branch(name="small")
        {'big': <KStream orders-big>, 'small': <KStream orders-small>}
        """
        return branched.BranchedKStream(self._draft, self._node, self._flow, prefix=name)

    def peek(self, action: Function, *, name: str | None = None) -> kstream.KStream:
        """Call a Python function with each (value) or (key, value) and pass the record on.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").peek(lambda key, value: print(key, value))
        <KStream peek-of-orders>
        """
        return self._stream(Peek(**self._at("peek", name), action=action, with_key=takes_key("peek", action)))

    def foreach(self, action: Function, *, name: str | None = None) -> None:
        """Call a Python function with each (value) or (key, value), and end there.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").foreach(lambda value: print(value))
        """
        self._draft.add(
            Foreach(**self._at("foreach", name), action=action, with_key=takes_key("foreach", action))
        )

    def print(
        self,
        *,
        label: str | None = None,
        file: str | None = None,
        mapper: Function | None = None,
        name: str | None = None,
    ) -> None:
        """Write each record as `[label]: key, value` to standard output or to a file.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").print(label="new order")
        """
        if mapper is not None:
            arguments("print", mapper, KEY_VALUE)
        self._draft.add(Print(**self._at("print", name), label=label or self._node, file=file, mapper=mapper))

    def _filtered(self, verb: str, predicate: Function, name: str | None, *, negate: bool) -> kstream.KStream:
        with_key = takes_key(verb, predicate)
        node = Filter(**self._at(verb, name), predicate=predicate, with_key=with_key, negate=negate)
        return self._stream(node)
