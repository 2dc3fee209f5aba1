"""Stateless steps on streams: each record is looked at alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tidemill.serde.base import Serde
from tidemill.topology.nodes.base import Function, Kind, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter(Node):
    """Keeps the records of which the predicate holds, or with `negate` does not hold."""

    predicate: Function = field(compare=False)
    with_key: bool = False
    negate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MapValues(Node):
    """Replaces the value; key, time and headers stay."""

    fn: Function = field(compare=False)
    with_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatMapValues(Node):
    """Replaces the value by each element of an array."""

    fn: Function = field(compare=False)
    with_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Map(Node):
    """Replaces key and value; `fn` takes (key, value) and returns a pair of Columns."""

    changes_key: ClassVar[bool] = True

    fn: Function = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatMap(Node):
    """Replaces a record by each struct(key, value) of an array; `fn` takes (key, value)."""

    changes_key: ClassVar[bool] = True

    fn: Function = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectKey(Node):
    """Replaces the key; `fn` takes (key, value)."""

    changes_key: ClassVar[bool] = True

    fn: Function = field(compare=False)
    key: Serde | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBy(Node):
    """Replaces the key by the group's; the aggregation that follows drops null keys."""

    changes_key: ClassVar[bool] = True

    fn: Function = field(compare=False)
    key: Serde | None = None
    value: Serde | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge(Node):
    """Several streams as one, without an order between them."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A predicate of a split, with the arguments it takes."""

    fn: Function = field(compare=False)
    with_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchFilter(Node):
    """One branch of a split: the records that no earlier branch took and that its own condition accepts.

    `condition` is None for the default branch; `earlier` are the conditions of the branches before.
    """

    index: int
    condition: Condition | None
    earlier: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Repartition(Node):
    """Sends the records through an internal topic, so that equal keys meet in one partition."""

    partitions: int | None = None
    key: Serde | None = None
    value: Serde | None = None
    partitioner: Function | None = field(default=None, compare=False)

    @property
    def topic(self) -> str:
        """The internal topic without the application id."""
        return f"{self.name}-repartition"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peek(Node):
    """Calls a Python function with (value) or (key, value) of each record and passes the record on."""

    action: Function = field(compare=False)
    with_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreach(Node):
    """Calls a Python function with (value) or (key, value) of each record and ends there."""

    kind: ClassVar[Kind] = Kind.NOTHING

    action: Function = field(compare=False)
    with_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Print(Node):
    """Writes each record as `[label]: key, value` to standard output or to a file."""

    kind: ClassVar[Kind] = Kind.NOTHING

    label: str
    file: str | None = None
    mapper: Function | None = field(default=None, compare=False)
