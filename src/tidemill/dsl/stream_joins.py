"""The joins of a stream with a stream, a table or a global table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from tidemill.dsl import global_ktable, kstream, ktable
from tidemill.dsl.handle import Handle
from tidemill.place import here
from tidemill.time import Duration, milliseconds
from tidemill.topology import StoreKind, StoreSpec, TopologyError
from tidemill.topology.functions import KEY_VALUE, arguments, joiner_takes_key
from tidemill.topology.nodes import How, StreamGlobalJoin, StreamStreamJoin, StreamTableJoin
from tidemill.windows import JoinWindows

Function = Callable[..., Any]


class StreamJoins(Handle):
    """Joins. A joiner takes (left, right) or (key, left, right); a side that is missing is null."""

    __slots__ = ()

    def join(
        self,
        other: kstream.KStream | ktable.KTable | global_ktable.GlobalKTable,
        joiner: Function,
        windows: JoinWindows | None = None,
        *,
        key: Function | None = None,
        grace: Duration | None = None,
        store: str | None = None,
        logging: bool | Mapping[str, str] = False,
        name: str | None = None,
    ) -> kstream.KStream:
        """Join with another stream (within `windows`), a table, or a global table (by `key`).

        `key` of (key, value) names the row of a global table. `grace` holds records back until a versioned
        table is surely that far. `store` names the stores of a stream-stream join.

        >>> from tidemill import StreamsBuilder, windows
        >>> builder = StreamsBuilder()
        >>> views, clicks, users = builder.stream("views"), builder.stream("clicks"), builder.table("users")
        >>> views.join(clicks, lambda view, click: struct(view, click), windows.join("5 min"))
        <KStream join-of-views-and-clicks>
        >>> clicks.join(users, lambda key, click, user: user.name)
        <KStream join-of-clicks-and-users>
        >>> countries = builder.global_table("countries")
        >>> views.join(countries, lambda view, country: country.name, key=lambda key, value: value.country)
        <KStream join-of-views-and-countries>
        """
        wish = _Wish("join", How.INNER, joiner, name, windows, key, grace, store, logging)
        return self._joined(other, wish)

    def left_join(
        self,
        other: kstream.KStream | ktable.KTable | global_ktable.GlobalKTable,
        joiner: Function,
        windows: JoinWindows | None = None,
        *,
        key: Function | None = None,
        grace: Duration | None = None,
        store: str | None = None,
        logging: bool | Mapping[str, str] = False,
        name: str | None = None,
    ) -> kstream.KStream:
        """As `join`, and records of this stream that find no partner come with null.

        >>> from tidemill import StreamsBuilder
        >>> builder = StreamsBuilder()
        >>> builder.stream("clicks").left_join(builder.table("users"), lambda click, user: user.name)
        <KStream left-join-of-clicks-and-users>
        """
        wish = _Wish("left_join", How.LEFT, joiner, name, windows, key, grace, store, logging)
        return self._joined(other, wish)

    def outer_join(
        self,
        other: kstream.KStream,
        joiner: Function,
        windows: JoinWindows | None = None,
        *,
        store: str | None = None,
        logging: bool | Mapping[str, str] = False,
        name: str | None = None,
    ) -> kstream.KStream:
        """As `join` of two streams, and records of both that find no partner come with null.

        >>> from tidemill import StreamsBuilder, windows
        >>> builder = StreamsBuilder()
        >>> builder.stream("a").outer_join(builder.stream("b"), lambda a, b: a, windows.join(1000))
        <KStream outer-join-of-a-and-b>
        """
        wish = _Wish("outer_join", How.OUTER, joiner, name, windows, store=store, logging=logging)
        return self._joined(other, wish)

    def _joined(self, other: Handle, wish: _Wish) -> kstream.KStream:
        match other:
            case kstream.KStream():
                wish.refuse("another stream", "key", "grace")
                return self._with_stream(other, wish)
            case ktable.KTable():
                wish.refuse("a table", "windows", "key", "store")
                return self._with_table(other, wish)
            case global_ktable.GlobalKTable():
                wish.refuse("a global table", "windows", "grace", "store")
                return self._with_global(other, wish)
        raise TopologyError(
            f"{wish.verb} takes a stream, a table or a global table, not {other!r}",
            place=here(),
            remedy="join before grouping, and aggregate a grouped stream before joining it",
        )

    def _with_stream(self, other: kstream.KStream, wish: _Wish) -> kstream.KStream:
        how = wish.pairing()
        window = _join_windows(wish)
        step = self._stored(wish.verb, wish.name, wish.store, other)
        stem = wish.store or step["name"]
        left = _join_store(f"{stem}-this-join-store", self, window, wish.logging)
        right = _join_store(f"{stem}-other-join-store", other, window, wish.logging)
        node = StreamStreamJoin(**step, **how, window=window, left_store=left, right_store=right)
        return self._stream(node, self._flow.new_value())

    def _with_table(self, other: ktable.KTable, wish: _Wish) -> kstream.KStream:
        how = wish.pairing(outer="a table")
        step = self._at(wish.verb, wish.name, other, durable=True)
        wait = None if wish.grace is None else milliseconds(wish.grace, what="the grace period")
        buffer = None if wait is None else StoreSpec(name=f"{step['name']}-buffer", caching=False)
        flow = self._flow
        node = StreamTableJoin(**step, **how, grace=wait, buffer=buffer, key=flow.key, value=flow.value)
        return self._stream(node, flow.new_value())

    def _with_global(self, other: global_ktable.GlobalKTable, wish: _Wish) -> kstream.KStream:
        how = wish.pairing(outer="a global table")
        if wish.key is None:
            raise TopologyError(
                f"{wish.verb} with the global table `{other.name}` does not say which row to take",
                place=here(),
                remedy="give key=lambda key, value: ...",
            )
        arguments(f"key= of {wish.verb}", wish.key, KEY_VALUE)
        node = StreamGlobalJoin(**self._at(wish.verb, wish.name, other), **how, key_selector=wish.key)
        return self._stream(node, self._flow.new_value())


class _Pairing(TypedDict):
    """What every join node has beside its sides."""

    how: How
    joiner: Function
    with_key: bool


@dataclass(frozen=True, slots=True)
class _Wish:
    """A join as it was called."""

    verb: str
    how: How
    joiner: Function
    name: str | None
    windows: JoinWindows | None
    key: Function | None = None
    grace: Duration | None = None
    store: str | None = None
    logging: bool | Mapping[str, str] = False

    def pairing(self, *, outer: str | None = None) -> _Pairing:
        """How and with which joiner; `outer` names a partner that has no outer join with a stream."""
        if outer is not None and self.how is How.OUTER:
            raise TopologyError(
                f"a stream has no outer join with {outer}: only the stream's records trigger it",
                place=here(),
                remedy="use left_join, or make the stream a table with to_table()",
            )
        with_key = joiner_takes_key(self.verb, self.joiner)
        return _Pairing(how=self.how, joiner=self.joiner, with_key=with_key)

    def refuse(self, partner: str, *options: str) -> None:
        """Refuse options that mean nothing with this partner."""
        for option in options:
            if getattr(self, option) is not None:
                raise TopologyError(
                    f"{self.verb} with {partner} takes no {option}=",
                    place=here(),
                    remedy=f"leave {option}= out",
                )


def _join_store(name: str, side: Handle, window: JoinWindows, logging: bool | Mapping[str, str]) -> StoreSpec:
    return StoreSpec(
        name=name,
        kind=StoreKind.WINDOW,
        key=side._flow.key,
        value=side._flow.value,
        retention=window.minimum_retention,
        caching=False,
        logging=logging is not False,
        changelog_config=() if isinstance(logging, bool) else tuple(sorted(logging.items())),
    )


def _join_windows(wish: _Wish) -> JoinWindows:
    if isinstance(wish.windows, JoinWindows):
        return wish.windows
    what = "no windows" if wish.windows is None else type(wish.windows).__name__
    raise TopologyError(
        f"{wish.verb} of two streams needs join windows and has {what}",
        place=here(),
        remedy=f'write {wish.verb}(other, joiner, windows.join("5 minutes"))',
    )
