"""The joins of a stream with a stream, a table or a global table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
        logging: bool | Mapping[str, str] = True,
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
        return self._joined("join", How.INNER, other, joiner, windows, key, grace, store, logging, name)

    def left_join(
        self,
        other: kstream.KStream | ktable.KTable | global_ktable.GlobalKTable,
        joiner: Function,
        windows: JoinWindows | None = None,
        *,
        key: Function | None = None,
        grace: Duration | None = None,
        store: str | None = None,
        logging: bool | Mapping[str, str] = True,
        name: str | None = None,
    ) -> kstream.KStream:
        """As `join`, and records of this stream that find no partner come with null.

        >>> from tidemill import StreamsBuilder
        >>> builder = StreamsBuilder()
        >>> builder.stream("clicks").left_join(builder.table("users"), lambda click, user: user.name)
        <KStream left-join-of-clicks-and-users>
        """
        return self._joined("left_join", How.LEFT, other, joiner, windows, key, grace, store, logging, name)

    def outer_join(
        self,
        other: kstream.KStream,
        joiner: Function,
        windows: JoinWindows | None = None,
        *,
        store: str | None = None,
        logging: bool | Mapping[str, str] = True,
        name: str | None = None,
    ) -> kstream.KStream:
        """As `join` of two streams, and records of both that find no partner come with null.

        >>> from tidemill import StreamsBuilder, windows
        >>> builder = StreamsBuilder()
        >>> builder.stream("a").outer_join(builder.stream("b"), lambda a, b: a, windows.join(1000))
        <KStream outer-join-of-a-and-b>
        """
        return self._joined("outer_join", How.OUTER, other, joiner, windows, None, None, store, logging, name)

    def _joined(
        self,
        verb: str,
        how: How,
        other: Handle,
        joiner: Function,
        windows: JoinWindows | None,
        key: Function | None,
        grace: Duration | None,
        store: str | None,
        logging: bool | Mapping[str, str],
        name: str | None,
    ) -> kstream.KStream:
        with_key = joiner_takes_key(verb, joiner)
        match other:
            case kstream.KStream():
                _refuse(verb, "another stream", {"key": key, "grace": grace})
                return self._with_stream(
                    verb, how, other, joiner, with_key, _join_windows(verb, windows), store, logging, name
                )
            case ktable.KTable():
                _refuse(verb, "a table", {"windows": windows, "key": key, "store": store})
                _refuse_outer(how, "a table")
                return self._with_table(verb, how, other, joiner, with_key, grace, name)
            case global_ktable.GlobalKTable():
                _refuse(verb, "a global table", {"windows": windows, "grace": grace, "store": store})
                _refuse_outer(how, "a global table")
                return self._with_global(verb, how, other, joiner, with_key, key, name)
        raise TopologyError(
            f"{verb} takes a stream, a table or a global table, not {other!r}",
            place=here(),
            remedy="join before grouping, and aggregate a grouped stream before joining it",
        )

    def _with_stream(
        self,
        verb: str,
        how: How,
        other: kstream.KStream,
        joiner: Function,
        with_key: bool,
        window: JoinWindows,
        store: str | None,
        logging: bool | Mapping[str, str],
        name: str | None,
    ) -> kstream.KStream:
        step = self._stored(verb, name, store, other)
        stem = store or step["name"]
        left = _join_store(f"{stem}-this-join-store", self, window, logging)
        right = _join_store(f"{stem}-other-join-store", other, window, logging)
        node = StreamStreamJoin(
            **step,
            how=how,
            joiner=joiner,
            with_key=with_key,
            window=window,
            left_store=left,
            right_store=right,
        )
        return self._stream(node, self._flow.new_value())

    def _with_table(
        self,
        verb: str,
        how: How,
        other: ktable.KTable,
        joiner: Function,
        with_key: bool,
        grace: Duration | None,
        name: str | None,
    ) -> kstream.KStream:
        step = self._at(verb, name, other, durable=True)
        wait = None if grace is None else milliseconds(grace, what="the grace period")
        buffer = None if wait is None else StoreSpec(name=f"{step['name']}-buffer", caching=False)
        flow = self._flow
        node = StreamTableJoin(
            **step,
            how=how,
            joiner=joiner,
            with_key=with_key,
            grace=wait,
            buffer=buffer,
            key=flow.key,
            value=flow.value,
        )
        return self._stream(node, flow.new_value())

    def _with_global(
        self,
        verb: str,
        how: How,
        other: global_ktable.GlobalKTable,
        joiner: Function,
        with_key: bool,
        key: Function | None,
        name: str | None,
    ) -> kstream.KStream:
        if key is None:
            raise TopologyError(
                f"{verb} with the global table `{other.name}` does not say which row to take",
                place=here(),
                remedy="give key=lambda key, value: ...",
            )
        arguments(f"key= of {verb}", key, KEY_VALUE)
        step = self._at(verb, name, other)
        node = StreamGlobalJoin(**step, how=how, joiner=joiner, with_key=with_key, key_selector=key)
        return self._stream(node, self._flow.new_value())


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


def _join_windows(verb: str, windows: JoinWindows | None) -> JoinWindows:
    if isinstance(windows, JoinWindows):
        return windows
    what = "no windows" if windows is None else f"{type(windows).__name__}"
    raise TopologyError(
        f"{verb} of two streams needs join windows and has {what}",
        place=here(),
        remedy=f'give windows.join("5 minutes"): {verb}(other, joiner, windows.join("5 minutes"))',
    )


def _refuse(verb: str, partner: str, options: Mapping[str, object]) -> None:
    for option, value in options.items():
        if value is not None:
            raise TopologyError(
                f"{verb} with {partner} takes no {option}=", place=here(), remedy=f"leave {option}= out"
            )


def _refuse_outer(how: How, partner: str) -> None:
    if how is How.OUTER:
        raise TopologyError(
            f"a stream has no outer join with {partner}: only the stream's records trigger it",
            place=here(),
            remedy="use left_join, or make the stream a table with to_table()",
        )
