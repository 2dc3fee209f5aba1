"""Stores as the verbs' keyword arguments declare them, and as processors declare their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from tidemill.place import here
from tidemill.serde.base import Serde
from tidemill.serde.windowed import session_windowed, time_windowed
from tidemill.time import Duration, milliseconds
from tidemill.topology.errors import TopologyError
from tidemill.topology.nodes import StoreKind, StoreSpec
from tidemill.windows import SessionWindows, SlidingWindows, TimeWindows, Windows


class StoreOptions(TypedDict, total=False):
    """Keyword arguments of every verb that keeps a store."""

    key: Serde | None
    """Serde of the store's keys; by default that of the records."""
    value: Serde | None
    """Serde of the store's values; by default chosen from their type."""
    retention: Duration | None
    """How long windows are kept; by default as long as they take records."""
    caching: bool
    """Whether updates of one key in a batch go out as one (the default)."""
    logging: bool | Mapping[str, str]
    """Whether there is a changelog topic (by default there is none), or its topic configuration."""
    versioned: Duration | None
    """Keep the history of each key for so long."""


def state_store(
    name: str,
    *,
    key: Serde | None = None,
    value: Serde | None = None,
    kind: str = "key-value",
    retention: Duration | None = None,
    caching: bool = True,
    logging: bool | Mapping[str, str] = False,
    timestamped: bool = False,
) -> StoreSpec:
    """A store for processors; `kind` is key-value, window, session or versioned.

    The values of a `timestamped` store are `ValueAndTimestamp`s, which may hold headers, too. All stores
    live in Spark's state store, in RocksDB: whether one is on disk or in memory is not asked.

    >>> from tidemill import serdes
    >>> seen = state_store("seen", key=serdes.string, value=serdes.long)
    >>> seen.kind, seen.changelog
    (<StoreKind.KEY_VALUE: 'key-value'>, None)
    """
    try:
        chosen = StoreKind(kind)
    except ValueError:
        kinds = ", ".join(StoreKind)
        raise TopologyError(
            f"`{kind}` is no kind of store", place=here(), remedy=f"choose one of: {kinds}"
        ) from None
    if chosen is not StoreKind.KEY_VALUE and retention is None:
        raise TopologyError(
            f"the {chosen} store `{name}` has no retention", place=here(), remedy='give retention="..."'
        )
    if timestamped and chosen is StoreKind.VERSIONED:
        raise TopologyError(
            f"the versioned store `{name}` keeps times already", place=here(), remedy="leave timestamped= out"
        )
    return StoreSpec(
        name=name,
        kind=chosen,
        key=check_serde("key", key),
        value=check_serde("value", value),
        retention=None if retention is None else milliseconds(retention, what="the retention"),
        caching=caching,
        logging=logging is not False,
        queryable=True,
        changelog_config=_config(logging),
        timestamped=timestamped or None,
    )


def materialized(
    node: str,
    store: str | None,
    options: StoreOptions,
    *,
    key: Serde | None = None,
    value: Serde | None = None,
    window: Windows | None = None,
) -> StoreSpec:
    """The store of a verb: named by the user, else after its node; `key` and `value` are the defaults."""
    known: StoreOptions = {"key": key, "value": value, **options}
    return _store(node, store, window, **known)


def windowed_key(key: Serde | None, window: Windows | None) -> Serde | None:
    """The serde of a windowed table's keys, where that of its plain keys is known."""
    match window:
        case None:
            return key
        case _ if key is None:
            return None
        case SessionWindows():
            return session_windowed(key)
        case TimeWindows(size=size) | SlidingWindows(difference=size):
            return time_windowed(key, size)
        case _:
            return time_windowed(key)


def check_serde(what: str, serde: Serde | None) -> Serde | None:
    """The serde itself; anything else is refused with the form that was meant."""
    if serde is None or isinstance(serde, Serde):
        return serde
    raise TopologyError(
        f"{what}= takes a serde, not {serde!r}",
        place=here(),
        remedy="write serdes.string, serdes.long, ... or serdes.json(schema)",
    )


def _store(
    node: str,
    store: str | None,
    window: Windows | None,
    *,
    key: Serde | None = None,
    value: Serde | None = None,
    retention: Duration | None = None,
    caching: bool = True,
    logging: bool | Mapping[str, str] = False,
    versioned: Duration | None = None,
) -> StoreSpec:
    if versioned is not None and window is not None:
        raise TopologyError(
            "a windowed store has no versions", node=node, place=here(), remedy="leave versioned= out"
        )
    given = versioned if versioned is not None else retention
    return StoreSpec(
        name=node if store is None else store,
        kind=StoreKind.VERSIONED if versioned is not None else _kind(window),
        key=check_serde("key", key),
        value=check_serde("value", value),
        retention=_retention(given, window),
        caching=caching,
        logging=logging is not False,
        queryable=store is not None,
        changelog_config=_config(logging),
    )


def _kind(window: Windows | None) -> StoreKind:
    if window is None:
        return StoreKind.KEY_VALUE
    return StoreKind.SESSION if isinstance(window, SessionWindows) else StoreKind.WINDOW


def _retention(given: Duration | None, window: Windows | None) -> int | None:
    if given is not None:
        return milliseconds(given, what="the retention")
    return None if window is None else window.minimum_retention


def _config(logging: bool | Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return () if isinstance(logging, bool) else tuple(sorted(logging.items()))
