"""Joins: the first parent is the left side, the second the right side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from tidemill.serde.base import Serde
from tidemill.topology.nodes.base import Function, Kind, Node, StoreSpec
from tidemill.windows import JoinWindows


class How(StrEnum):
    """Which rows without a partner a join hands on: none, the left ones, or both."""

    INNER = "inner"
    LEFT = "left"
    OUTER = "outer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Join(Node):
    """What all joins share: `joiner` takes (left, right), or (key, left, right) when `with_key`."""

    how: How
    joiner: Function = field(compare=False)
    with_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStreamJoin(Join):
    """Pairs of records of one key that lie within a window of each other."""

    needs_key: ClassVar[bool] = True
    stateful: ClassVar[bool] = True

    window: JoinWindows
    left_store: StoreSpec
    right_store: StoreSpec

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield from (self.left_store, self.right_store)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTableJoin(Join):
    """Each stream record with the table's row of its key.

    `grace` (versioned tables only) holds stream records back for so many milliseconds; `buffer` keeps them.
    """

    needs_key: ClassVar[bool] = True
    stateful: ClassVar[bool] = True

    grace: int | None = None
    buffer: StoreSpec | None = None
    key: Serde | None = None
    value: Serde | None = None
    """Serdes of the stream side."""

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        if self.buffer is not None:
            yield self.buffer


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamGlobalJoin(Join):
    """Each stream record with the global table's row of the key that `key_selector(key, value)` names."""

    key_selector: Function = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTableJoin(Join):
    """The rows of two tables under one key; either side's change updates the result."""

    kind: ClassVar[Kind] = Kind.TABLE
    needs_key: ClassVar[bool] = True
    stateful: ClassVar[bool] = True

    store: StoreSpec

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield self.store


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKeyJoin(Join):
    """Each left row with the right row whose key `key_extractor` reads from the left row.

    `key_extractor` takes (value), or (key, value) when `extractor_with_key`. The result has the left key.
    """

    kind: ClassVar[Kind] = Kind.TABLE
    needs_key: ClassVar[bool] = True
    stateful: ClassVar[bool] = True

    key_extractor: Function = field(compare=False)
    extractor_with_key: bool = False
    store: StoreSpec

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield self.store
