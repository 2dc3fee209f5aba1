"""Kafka in and out of Spark: frames of records from topics, and rows of records to topics."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tidemill.engine.handlers import Handlers
from tidemill.errors import UsageError
from tidemill.topology.nodes import Kind, TopicSource
from tidemill.topology.nodes.source import OffsetReset, ResetPolicy

SOURCE = "tidemill-kafka-source"
"""The short name of the kernel's source: Spark's own, watched and paced."""
SINK = "tidemill-kafka"
"""The short name of the kernel's sink."""

Offsets = Mapping[str, Mapping[int, int]]
"""Offsets by topic and partition."""

_COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "headers")


@dataclass(frozen=True, slots=True)
class KafkaIn:
    """How topics are read."""

    client: Mapping[str, str] = field(repr=False)
    """Settings of the Java client; holds secrets."""
    group_prefix: str
    reset: OffsetReset
    committed_only: bool = True
    max_offsets: int | None = None
    """The most records of a batch; how many it really takes follows from the two settings below."""
    target_ms: int = 5000
    """How long a batch may take where there is a backlog."""
    gate: str = ""
    """The gate whose closing ends a batch of real-time mode."""
    starting: Offsets | None = None
    """Where each partition begins on a first start; must name every partition of the topics it names."""
    until: Offsets | None = None
    """Where each partition ends in a bounded run; what is not named ends at what is there when it begins."""
    lost: str = "fail"
    """What to do about records that are gone: fail, earliest or latest."""
    recreated: tuple[str, ...] = ()
    """Topics that were deleted and created again since they were read last."""
    planned: Mapping[str, int] = field(default_factory=dict)
    """How many partitions the plan knows, of topics whose growth needs another plan."""
    align: str = "none"
    """Which partitions keep pace in time over the batches of a backlog: `partition` (those of one number),
    `all` or `none`."""
    own: tuple[str, ...] = ()
    """The app's own topics, which no pattern is to match."""


@dataclass(frozen=True, slots=True)
class KafkaOut:
    """How records are written. `transactional_prefix` and `markers` are there under exactly-once only."""

    client: Mapping[str, str] = field(repr=False)
    gate: str
    transactional_prefix: str = ""
    markers: str = ""
    layout: str = ""
    """How records find their tasks, where that may change between two attempts at a batch."""
    handlers: Handlers = field(default_factory=Handlers)
    partitions: Mapping[str, int] = field(default_factory=dict)
    """How many partitions the topics have whose sinks choose one."""


def read_sources(
    spark: SparkSession, sources: Iterable[TopicSource], reading: KafkaIn
) -> dict[str, DataFrame]:
    """A frame for each source node; nodes that begin reading at the same place share one reader."""
    together: dict[tuple[OffsetReset, str | None], list[TopicSource]] = {}
    for source in sources:
        # A pattern has a reader of its own.
        mine = source.name if source.pattern is not None else None
        together.setdefault((_reset_of(source, reading), mine), []).append(source)
    frames: dict[str, DataFrame] = {}
    for (reset, _), nodes in together.items():
        topics = tuple(dict.fromkeys(topic for node in nodes for topic in node.topics))
        what = {"subscribe": ",".join(topics)}
        if (wanted := nodes[0].pattern) is not None:
            others = "".join(f"(?!{re.escape(topic)}$)" for topic in reading.own)
            what = {"subscribePattern": f"{others}(?:{wanted})"}
            topics = tuple(topic for topic in reading.starting or () if re.fullmatch(wanted, topic))
        frame = _read(spark, what, topics, reset, reading, readers=len(together))
        frames.update({node.name: frame for node in nodes})
    return frames


def write_records(frame: DataFrame, writing: KafkaOut) -> DataStreamWriter:
    """A writer of rows (topic, key, value, headers, timestamp), ready to be given a trigger and started."""
    options = {
        **{f"kafka.{name}": value for name, value in writing.client.items()},
        "transactionalIdPrefix": writing.transactional_prefix,
        "markers": writing.markers,
        "layout": writing.layout,
        "gate": writing.gate,
        **{f"handler.{kind}": str(outcome) for kind, outcome in writing.handlers.outcomes.items()},
        "handler.topic": writing.handlers.topic,
        "handler.application": writing.handlers.application_id,
    }
    return frame.writeStream.format(SINK).outputMode("update").options(**options)


def _read(
    spark: SparkSession,
    what: Mapping[str, str],
    topics: tuple[str, ...],
    reset: OffsetReset,
    reading: KafkaIn,
    *,
    readers: int,
) -> DataFrame:
    options = {
        **{f"kafka.{name}": value for name, value in reading.client.items()},
        **what,
        **_start(topics, reset, reading.starting),
        **_watched(reading),
        "kafka.isolation.level": "read_committed" if reading.committed_only else "read_uncommitted",
        "includeHeaders": "true",
        "failOnDataLoss": "true",
        "groupIdPrefix": reading.group_prefix,
        "pace.target.ms": str(reading.target_ms),
        "pace.share": str(readers),
        "gate": reading.gate,
    }
    if reading.max_offsets is not None:
        options["pace.records"] = str(reading.max_offsets)
    records = spark.readStream.format(SOURCE).options(**options).load()
    return records.select(*(col(name) for name in _COLUMNS))


def _watched(reading: KafkaIn) -> dict[str, str]:
    """What the kernel's source is told besides Spark's own options."""
    options = {
        "offsetsLost": reading.lost,
        "recreated": ",".join(reading.recreated),
        "align": reading.align,
        "planned": ",".join(f"{topic}={count}" for topic, count in reading.planned.items()),
    }
    if reading.until is not None:
        options["until"] = _json(reading.until)
    return options


def _json(offsets: Offsets) -> str:
    return json.dumps(
        {topic: {str(part): offset for part, offset in parts.items()} for topic, parts in offsets.items()}
    )


def _reset_of(source: TopicSource, reading: KafkaIn) -> OffsetReset:
    # A global table is whole or useless: Kafka Streams reads it from the beginning whatever the policy says.
    if source.kind is Kind.GLOBAL_TABLE:
        return OffsetReset(ResetPolicy.EARLIEST)
    return source.offset_reset or reading.reset


def _start(topics: tuple[str, ...], reset: OffsetReset, starting: Offsets | None) -> dict[str, str]:
    own = {topic: starting[topic] for topic in topics if topic in starting} if starting else {}
    if own:
        missing = [topic for topic in topics if topic not in own]
        if missing:
            raise UsageError(
                f"starting offsets are given for {', '.join(own)} but not for {', '.join(missing)}",
                remedy="name every topic that is read",
            )
        return {"startingOffsets": _json(own)}
    if reset.policy is ResetPolicy.BY_DURATION:
        since = int(time.time() * 1000) - (reset.duration or 0)
        return {"startingTimestamp": str(since), "startingOffsetsByTimestampStrategy": "latest"}
    return {"startingOffsets": "latest" if reset.policy is ResetPolicy.LATEST else "earliest"}
