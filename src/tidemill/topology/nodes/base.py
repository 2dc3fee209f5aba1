"""What every node of a topology has: a name, parents, the user's line, and the kind of its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from tidemill.place import Place
from tidemill.serde.base import Serde

Function = Callable[..., Any]
"""A user's function: it gets Spark Columns and returns one. Only the engine calls it."""


class Kind(StrEnum):
    """What a node hands to its children."""

    STREAM = "stream"
    TABLE = "table"
    GLOBAL_TABLE = "global table"
    NOTHING = "nothing"


class StoreKind(StrEnum):
    """How a store is addressed: by key, by key and window, by key and session, by key and time."""

    KEY_VALUE = "key-value"
    WINDOW = "window"
    SESSION = "session"
    VERSIONED = "versioned"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSpec:
    """A store as declared: its name, serdes, lifetime, and whether it is logged, cached and queryable."""

    name: str
    kind: StoreKind = StoreKind.KEY_VALUE
    key: Serde | None = None
    value: Serde | None = None
    retention: int | None = None
    caching: bool = True
    logging: bool = False
    queryable: bool = False
    changelog_config: tuple[tuple[str, str], ...] = ()
    timestamped: bool | None = None
    """True where a processor gets and puts its values with their timestamps and headers."""

    @property
    def changelog(self) -> str | None:
        """The changelog topic without the application id, or None where the store is not logged."""
        return f"{self.name}-changelog" if self.logging else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One step of a topology. A subclass adds what the step needs; two equal nodes do the same work."""

    name: str
    parents: tuple[str, ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)

    kind: ClassVar[Kind] = Kind.STREAM
    """What the node hands to its children."""
    changes_key: ClassVar[bool] = False
    """Whether records may leave under another key than they came in with."""
    needs_key: ClassVar[bool] = False
    """Whether records of one key must be in one place here, so that a changed key means a shuffle."""
    stateful: ClassVar[bool] = False
    """Whether the node keeps state, so that its name is part of a checkpoint."""

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield from ()

    @property
    def type_name(self) -> str:
        """The noun of this node, as plans print it."""
        return type(self).__name__
