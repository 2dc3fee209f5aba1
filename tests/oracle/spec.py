"""A topology, its input and its settings as frozen data, so that two engines can run the same description.

Nodes nest: a node holds its inputs. Equal nodes are one node of the topology: one stream is read once.
A value type is "long", "string", or the Spark DDL of a struct ("fk string, x long"); keys are strings.
User functions are named from the vocabulary in `oracle.functions`, with arguments in brackets: "gt(10)".
Durations and timestamps are milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

LONG = "long"
STRING = "string"

JoinKind = Literal["inner", "left", "outer"]


@dataclass(frozen=True)
class Node:
    """A step of a topology."""


# Windows


@dataclass(frozen=True)
class Tumbling:
    size: int
    grace: int = 0


@dataclass(frozen=True)
class Hopping:
    size: int
    advance: int
    grace: int = 0


@dataclass(frozen=True)
class Sliding:
    difference: int
    grace: int = 0


@dataclass(frozen=True)
class Session:
    gap: int
    grace: int = 0


@dataclass(frozen=True)
class Unlimited:
    start: int = 0


Window = Tumbling | Hopping | Sliding | Session | Unlimited


# Sources


@dataclass(frozen=True)
class Stream(Node):
    topic: str
    value: str = STRING


@dataclass(frozen=True)
class Table(Node):
    """A table topic; `history` makes its store a versioned one that keeps that much past."""

    topic: str
    value: str = STRING
    store: str | None = None
    history: int | None = None


@dataclass(frozen=True)
class GlobalTable(Node):
    topic: str
    value: str = STRING


# Stateless steps: filters and value mappers work on streams and tables alike


@dataclass(frozen=True)
class Filter(Node):
    input: Node
    predicate: str
    store: str | None = None


@dataclass(frozen=True)
class FilterNot(Node):
    input: Node
    predicate: str
    store: str | None = None


@dataclass(frozen=True)
class MapValues(Node):
    input: Node
    mapper: str
    store: str | None = None


@dataclass(frozen=True)
class SelectKey(Node):
    input: Node
    selector: str


@dataclass(frozen=True)
class FlatMapValues(Node):
    input: Node
    expander: str


@dataclass(frozen=True)
class Merge(Node):
    left: Node
    right: Node


@dataclass(frozen=True)
class Split(Node):
    """Records go to the first branch whose predicate holds; all others go to the last branch, the default."""

    input: Node
    predicates: tuple[str, ...]


@dataclass(frozen=True)
class Branch(Node):
    split: Split
    index: int


@dataclass(frozen=True)
class Repartition(Node):
    input: Node
    name: str


@dataclass(frozen=True)
class ToTable(Node):
    input: Node
    store: str | None = None


@dataclass(frozen=True)
class ToStream(Node):
    input: Node


@dataclass(frozen=True)
class Process(Node):
    """A processor of the vocabulary in `oracle.processors`, with its own store."""

    input: Node
    processor: str
    store: str


# Aggregations


@dataclass(frozen=True)
class GroupByKey(Node):
    input: Node


@dataclass(frozen=True)
class GroupBy(Node):
    """Groups a stream by a new key (a selector), or a table by a new key and value (a pairing)."""

    input: Node
    by: str


@dataclass(frozen=True)
class Count(Node):
    grouped: GroupByKey | GroupBy
    window: Window | None = None
    on_close: bool = False
    store: str | None = None


@dataclass(frozen=True)
class Reduce(Node):
    grouped: GroupByKey | GroupBy
    reducer: str
    window: Window | None = None
    on_close: bool = False
    store: str | None = None


@dataclass(frozen=True)
class Aggregate(Node):
    grouped: GroupByKey | GroupBy
    fold: str
    window: Window | None = None
    on_close: bool = False
    store: str | None = None


@dataclass(frozen=True)
class Cogroup(Node):
    """Several grouped streams into one aggregate, each with its own fold; all start from the same value."""

    inputs: tuple[GroupByKey | GroupBy, ...]
    folds: tuple[str, ...]
    window: Window | None = None
    store: str | None = None


# Joins


@dataclass(frozen=True)
class StreamJoin(Node):
    left: Node
    right: Node
    joiner: str
    kind: JoinKind
    before: int
    after: int
    grace: int = 0


@dataclass(frozen=True)
class StreamTableJoin(Node):
    """`grace` holds stream records back so that a versioned table can catch up."""

    stream: Node
    table: Node
    joiner: str
    kind: JoinKind
    grace: int | None = None


@dataclass(frozen=True)
class GlobalJoin(Node):
    stream: Node
    table: GlobalTable
    selector: str
    joiner: str
    kind: JoinKind


@dataclass(frozen=True)
class TableJoin(Node):
    left: Node
    right: Node
    joiner: str
    kind: JoinKind
    store: str | None = None


@dataclass(frozen=True)
class ForeignKeyJoin(Node):
    left: Node
    right: Node
    extractor: str
    joiner: str
    kind: JoinKind
    store: str | None = None


# Suppression


@dataclass(frozen=True)
class Suppress(Node):
    """Holds updates until their window closes, or for `limit` milliseconds when one is given."""

    input: Node
    limit: int | None = None
    max_records: int | None = None
    max_bytes: int | None = None
    when_full: Literal["emit", "shut_down"] = "emit"


# Scenarios


@dataclass(frozen=True)
class Input:
    """A record piped into a topic."""

    topic: str
    key: str | None
    value: Any
    ts: int
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Advance:
    """The wall clock moves on."""

    millis: int


@dataclass(frozen=True)
class Config:
    """`throttle` is the least wall-clock time between two scans for closed windows and unmatched records.

    `retention` is how long the stores of windowed aggregates keep a window. By default that is as long as it
    can be open, which with the cache off loses windows at the very edge; with a longer one the rules decide.
    """

    cache: bool = False
    retention: int | None = None
    in_memory: bool = True
    throttle: int = 0
    optimize: bool = False


@dataclass(frozen=True)
class Sink:
    """Where a node is written to; a table is written as its changelog."""

    topic: str
    node: Node


@dataclass(frozen=True)
class Scenario:
    name: str
    sinks: tuple[Sink, ...]
    steps: tuple[Input | Advance, ...]
    config: Config = field(default_factory=Config)
    compare_headers: bool = False


@dataclass(frozen=True)
class Record:
    """An output record; the key of a windowed result is (key, start, end)."""

    topic: str
    key: Any
    value: Any
    ts: int
    headers: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True)
class Failure:
    """The library refused: at a step, or while the topology was built (step is None)."""

    step: int | None
    error: str


@dataclass(frozen=True)
class Answer:
    """What an engine said: the output of every step, the records it dropped, and where it failed."""

    steps: tuple[tuple[Record, ...], ...]
    dropped: int = 0
    failure: Failure | None = None
