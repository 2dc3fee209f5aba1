"""Aggregations: of streams, of several streams together, and of tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tidemill.serde.base import Serde
from tidemill.topology.nodes.base import Function, Kind, Node, StoreSpec
from tidemill.topology.nodes.window import Emit
from tidemill.windows import Windows


@dataclass(frozen=True, slots=True)
class Count:
    """How many records."""


@dataclass(frozen=True, slots=True)
class Reduce:
    """The first value, then `fn(aggregate, value)`; a table also takes back by `subtractor`."""

    fn: Function = field(compare=False)
    subtractor: Function | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Fold:
    """`init`, then `fn(key, value, aggregate)`.

    `init` is a literal, a Column or a function without arguments. `merger(key, a, b)` joins two sessions;
    `subtractor(key, value, aggregate)` takes a table's old value back.
    """

    init: Any = field(compare=False)
    fn: Function = field(compare=False)
    merger: Function | None = field(default=None, compare=False)
    subtractor: Function | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SparkAggregate:
    """Any aggregate of Spark: `fn(key, value)` or `fn(value)` returns a Column such as F.sum(value)."""

    fn: Function = field(compare=False)
    with_key: bool = True


@dataclass(frozen=True, slots=True)
class Gather:
    """All values in their order: what the engine keeps for a fold of Python values over windows."""


Operation = Count | Reduce | Fold | SparkAggregate | Gather


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamAggregate(Node):
    """One row per key, or per key and window, kept up to date from a stream."""

    kind: ClassVar[Kind] = Kind.TABLE
    needs_key: ClassVar[bool] = True
    stateful: ClassVar[bool] = True

    op: Operation
    store: StoreSpec
    window: Windows | None = None
    emit: Emit = Emit.UPDATE
    key: Serde | None = None
    value: Serde | None = None
    """Serdes of the records that come in; the store has those of the result."""

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield self.store


@dataclass(frozen=True, slots=True, kw_only=True)
class Cogroup(Node):
    """One aggregate fed by several streams: `aggregators[i](key, value, aggregate)` belongs to parent i."""

    kind: ClassVar[Kind] = Kind.TABLE
    needs_key: ClassVar[bool] = True
    stateful: ClassVar[bool] = True

    init: Any = field(compare=False)
    aggregators: tuple[Function, ...] = field(compare=False)
    store: StoreSpec
    window: Windows | None = None
    merger: Function | None = field(default=None, compare=False)
    emit: Emit = Emit.UPDATE
    key: Serde | None = None

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield self.store


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAggregate(Node):
    """Groups the rows of a table anew: `group(key, value)` returns the pair of new key and value.

    When a row changes, its old pair is subtracted before its new pair is added.
    """

    kind: ClassVar[Kind] = Kind.TABLE
    changes_key: ClassVar[bool] = True
    needs_key: ClassVar[bool] = True
    stateful: ClassVar[bool] = True

    group: Function = field(compare=False)
    op: Count | Reduce | Fold
    store: StoreSpec
    key: Serde | None = None
    value: Serde | None = None
    """Serdes of the regrouped pairs; the store has those of the result."""

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield self.store
