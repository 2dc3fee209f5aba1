"""Sources: the topics a topology reads as streams, tables and global tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from tidemill.serde.base import Serde
from tidemill.time import TimestampExtractor
from tidemill.topology.nodes.base import Kind, Node, StoreSpec


class ResetPolicy(StrEnum):
    """Where reading starts when the application has no position yet."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"
    BY_DURATION = "by_duration"


@dataclass(frozen=True, slots=True)
class OffsetReset:
    """A reset policy; `duration` (milliseconds back from now) goes with BY_DURATION."""

    policy: ResetPolicy
    duration: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSource(Node):
    """What all sources share: topics or a pattern, serdes, time and the reset policy."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    key: Serde | None = None
    value: Serde | None = None
    timestamp_extractor: TimestampExtractor | None = None
    offset_reset: OffsetReset | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSource(TopicSource):
    """Topics read as a stream of independent records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSource(TopicSource):
    """A topic read as a table: the last value of each key; a null value deletes."""

    kind: ClassVar[Kind] = Kind.TABLE
    stateful: ClassVar[bool] = True

    store: StoreSpec
    history_retention: int | None = None
    """How far back a versioned table answers; None is a plain table."""

    @property
    def topic(self) -> str:
        """The one topic of the table."""
        return self.topics[0]

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield self.store


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalTableSource(TopicSource):
    """A topic of which every worker sees the whole table."""

    kind: ClassVar[Kind] = Kind.GLOBAL_TABLE
    stateful: ClassVar[bool] = True

    store: StoreSpec

    @property
    def topic(self) -> str:
        """The one topic of the table."""
        return self.topics[0]

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield self.store
