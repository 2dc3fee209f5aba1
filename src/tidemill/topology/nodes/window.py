"""When windowed results go out: with each update, at the close, or held back by suppress."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from tidemill.topology.nodes.base import Kind, Node, StoreSpec
from tidemill.windows import Windows


class Emit(StrEnum):
    """When an aggregation hands on a windowed row."""

    UPDATE = "update"
    CLOSE = "close"


class WhenFull(StrEnum):
    """What suppress does when its buffer is full."""

    EMIT_EARLY = "emit-early"
    SHUT_DOWN = "shut-down"


@dataclass(frozen=True, slots=True)
class UntilWindowCloses:
    """Hold a row until its window takes no more records."""


@dataclass(frozen=True, slots=True)
class UntilTimeLimit:
    """Hold a row for so many milliseconds of record time after its first update."""

    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppress(Node):
    """Holds table updates back and hands on only the last one of each key.

    `window` is that of the aggregation upstream; with UntilWindowCloses it is always there.
    """

    kind: ClassVar[Kind] = Kind.TABLE
    stateful: ClassVar[bool] = True

    until: UntilWindowCloses | UntilTimeLimit
    store: StoreSpec
    window: Windows | None = None
    max_records: int | None = None
    max_bytes: int | None = None
    when_full: WhenFull = WhenFull.SHUT_DOWN

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield self.store
