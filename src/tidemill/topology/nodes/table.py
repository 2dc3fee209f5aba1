"""Steps on tables, and the ways between a table and a stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from tidemill.serde.base import Serde
from tidemill.topology.nodes.base import Function, Kind, Node, StoreSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStep(Node):
    """A table made from one table; `store` is there only where the user asked for one."""

    kind: ClassVar[Kind] = Kind.TABLE

    store: StoreSpec | None = None

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        if self.store is not None:
            yield self.store


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFilter(TableStep):
    """Keeps the rows of which the predicate holds; a row that ceases to hold becomes a deletion."""

    predicate: Function = field(compare=False)
    with_key: bool = False
    negate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMapValues(TableStep):
    """Replaces the value of each row; a null result deletes, a deletion passes without a call."""

    fn: Function = field(compare=False)
    with_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformValues(TableStep):
    """Replaces the value of each row by a Python object with state; it is called for deletions too."""

    stateful: ClassVar[bool] = True

    supplier: Function | str = field(compare=False)
    stores: tuple[StoreSpec, ...] = ()
    owned: tuple[str, ...] = ()
    value: Serde | None = None

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """Its own store if asked for, and the stores declared for processors that it uses."""
        yield from (() if self.store is None else (self.store,))
        yield from (store for store in self.stores if store.name in self.owned)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableToStream(Node):
    """The changes of a table as a stream; a deletion is a record with a null value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToTable(Node):
    """A stream read as a table: the last value of each key; a null value deletes."""

    kind: ClassVar[Kind] = Kind.TABLE
    needs_key: ClassVar[bool] = True
    stateful: ClassVar[bool] = True

    store: StoreSpec
    key: Serde | None = None
    value: Serde | None = None

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield self.store
