"""The columns around the kernel: Kafka's bytes in, rows from level to level, bytes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StringType, StructType

from tidemill.engine import letters
from tidemill.engine.columns import HEADERS, Columns
from tidemill.engine.handlers import Handlers
from tidemill.engine.lowering import Types
from tidemill.engine.meeting import Meeting
from tidemill.engine.operators.source import reads
from tidemill.engine.reading import Reader, read
from tidemill.engine.serdes.jvm import call
from tidemill.engine.steps import PhysicalPlan, Step
from tidemill.engine.times import with_times
from tidemill.engine.types import data_type, pair_type
from tidemill.topology.nodes import TopicSource

BARRIER = -1
"""The port of rows that pass every level unchanged, so that a driver knows all before them is done."""

_QUEUES_PER_PORT = 1_000_000


@dataclass(frozen=True, slots=True)
class Reading:
    """What sources need besides their records: the caller of users' functions, and where problems go."""

    columns: Columns
    handlers: Handlers
    problems: int
    """The port of records that cannot be read."""
    grown: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Topics that got more partitions: how many they had at first, and each number since."""
    meeting: Meeting = field(default_factory=Meeting)


@dataclass(frozen=True, slots=True)
class Move:
    """Rows of one port of a level go to another port of the next level."""

    old: int
    new: int
    by_key: bool = False
    replicated: bool = False


def decoded(
    frame: DataFrame,
    readers: Sequence[tuple[int, Step]],
    plan: PhysicalPlan,
    types: Sequence[Types],
    tasks: Sequence[int],
    reading: Reading,
) -> DataFrame:
    """Kafka records as rows of the first level; each reader has its port and takes the rows of its topics."""
    sources = [Reader(_source(step), port, "port") for port, step in readers]
    rows = frame.select("*", _ports(readers).alias("port"), _raw(reading.handlers).alias("raw"))
    rows = read(rows, sources, reading.handlers, reading.problems) if sources else rows
    rows = with_times(reading.columns, rows, sources)
    structs, task = {}, _task(_home(reading.grown) % len(tasks), tasks)
    for reader, (port, step) in zip(sources, readers, strict=True):
        pair = F.struct(reader.key.alias("key"), reader.value.alias("value"))
        structs[port] = F.when(reader.here, pair)
        if step.name in plan.keyed and plan.levels.get(step.name) == 0:
            # Not one more `otherwise`: to name the expression so far twice doubles it with every source.
            if step.name in reading.meeting.partitions:
                mine = reader.here & F.col("key").isNotNull()
                own = _task(reading.meeting.home(step.name) % len(tasks), tasks)
            else:
                mine = reader.here & reader.key.isNotNull()
                own = task_of(reader.key, tasks)
            task = F.when(mine, own).otherwise(task)
    if reading.handlers.are_needed:
        here = F.col("port") == reading.problems
        structs[reading.problems] = F.when(here, F.struct(F.col("key"), F.col("value")))
    replicated = [port for port, step in readers if is_replicated(step, plan)]
    if plan.python:
        # The clock of processors: every task is to see it.
        replicated.append(BARRIER)
    rows = rows.select("*", _spread(task, replicated, tasks).alias("task"))
    return rows.select(
        F.coalesce(F.col("task"), F.lit(tasks[0])).cast("int").alias("task"),
        F.col("port"),
        (F.col("port").cast("long") * _QUEUES_PER_PORT + F.col("partition")).alias("queue"),
        F.col("offset").alias("sequence"),
        F.unix_millis(F.col("timestamp")).alias("time"),
        F.col("headers"),
        F.col("topic"),
        F.col("partition"),
        F.col("offset"),
        F.col("raw"),
        *_structs(types, structs),
    )


def moved(frame: DataFrame, moves: Sequence[Move], types: Sequence[Types], tasks: Sequence[int]) -> DataFrame:
    """Rows that left one level as rows of the next: under new port numbers, and by key where they shuffle."""
    port, task = F.lit(BARRIER), F.col("task")
    for move in moves:
        here = F.col("port") == move.old
        port = F.when(here, F.lit(move.new)).otherwise(port)
        if move.by_key:
            by_key = task_of(F.col(f"p{move.old}")["key"], tasks)
            task = F.when(here & F.col(f"p{move.old}")["key"].isNotNull(), by_key).otherwise(task)
    replicated = [move.old for move in moves if move.replicated]
    rows = frame.withColumn("to", _spread(task, replicated, tasks))
    return rows.select(
        F.col("to").cast("int").alias("task"),
        port.alias("port"),
        # Everything one task sent keeps its order, whichever port it takes.
        (F.lit(-1) - F.col("task")).cast("long").alias("queue"),
        F.col("sequence"),
        F.col("time"),
        F.col("headers"),
        F.col("topic"),
        F.col("partition"),
        F.col("offset"),
        F.col("raw"),
        *_structs(types, {move.new: F.col(f"p{move.old}") for move in moves}),
    )


def without_barriers(frame: DataFrame) -> DataFrame:
    """Rows that are records."""
    return frame.where(F.col("port") != BARRIER)


def output_schema(ports: Sequence[Types]) -> StructType:
    """What the kernel's outputs write."""
    schema = (
        StructType()
        .add("port", IntegerType())
        .add("task", IntegerType())
        .add("sequence", LongType())
        .add("time", LongType())
        .add("headers", data_type(HEADERS))
        .add("topic", StringType())
        .add("partition", IntegerType())
        .add("offset", LongType())
        .add("raw", data_type(letters.RAW))
    )
    for position, types in enumerate(ports):
        schema = schema.add(f"p{position}", pair_type(types.key, types.value))
    return schema


def task_of(key: Column, tasks: Sequence[int]) -> Column:
    """The number of the task that holds a key."""
    return _task(F.pmod(F.hash(key), F.lit(len(tasks))), tasks)


def is_replicated(step: Step, plan: PhysicalPlan) -> bool:
    """Whether every task of the first level gets all records of a source."""
    return step.name not in plan.levels and step in plan.on_level(0)


def _home(grown: Mapping[str, Sequence[int]]) -> Column:
    """The partition whose task has the state of a record: its own, until its topic gets more of them.

    Then producers put a key into another partition, but its state stays. Where it is can be told by the hash
    that chose the partition, if that is the one of Java's producers.
    """
    home, key = F.col("partition"), F.col("key")
    for topic, counts in grown.items():
        hashed = call("Keys.murmur2", "int", (key, "binary"))
        placed = F.array(*(hashed % count for count in counts))
        text = F.format_string(
            "topic `%s` got more partitions, and whoever wrote the record at partition %d offset %d chooses "
            "partitions in a way of his own: the state of its key cannot be found; reset the app, or re-key "
            "the stream with select_key or group_by",
            *(F.col(name) for name in ("topic", "partition", "offset")),
        )
        known = F.when(F.array_contains(placed, F.col("partition")), hashed % counts[0])
        moved = F.when(key.isNull(), home).otherwise(known.otherwise(F.raise_error(text).cast("int")))
        home = F.when(F.col("topic") == topic, moved).otherwise(home)
    return home


def _task(index: Column, tasks: Sequence[int]) -> Column:
    return F.lit(tasks[0]) if len(tasks) == 1 else F.get(numbers_of(tasks), index)


def numbers_of(tasks: Sequence[int]) -> Column:
    """The numbers of all tasks, as an array."""
    return F.array(*(F.lit(number) for number in tasks))


def _ports(readers: Sequence[tuple[int, Step]]) -> Column:
    """The port of a row by its topic; one row per port where several nodes read one topic."""
    chosen = [F.when(_reads(step.node), F.lit(port)) for port, step in readers]
    named = [topic for _, step in readers for topic in getattr(step.node, "topics", ())]
    may_share = len(named) != len(set(named)) or any(
        getattr(step.node, "pattern", None) for _, step in readers
    )
    if may_share and len(readers) > 1:
        matching = F.filter(F.array(*chosen), lambda port: port.isNotNull())
        return F.explode(F.when(F.col("topic").isNull(), F.array(F.lit(BARRIER))).otherwise(matching))
    return F.coalesce(*chosen, F.lit(BARRIER))


def _reads(node: object) -> Column:
    assert isinstance(node, TopicSource)
    return reads(node, F.col("topic"))


def _source(step: Step) -> TopicSource:
    assert isinstance(step.node, TopicSource)
    return step.node


def _raw(handlers: Handlers) -> Column:
    """A record as it was read, where it may be wanted later; none for a barrier."""
    if not handlers.keep_sources:
        return F.lit(None).cast(letters.RAW)
    time = F.unix_millis("timestamp").alias("time")
    record = F.struct(F.col("key"), F.col("value"), F.col("headers"), time).cast(letters.RAW)
    return F.when(F.col("topic").isNotNull(), record)


def _spread(task: Column, replicated: Sequence[int], tasks: Sequence[int]) -> Column:
    if not replicated:
        return task
    everywhere = numbers_of(tasks)
    return F.explode(F.when(F.col("port").isin(*replicated), everywhere).otherwise(F.array(task)))


def _structs(types: Sequence[Types], present: Mapping[int, Column]) -> list[Column]:
    return [
        present.get(port, F.lit(None)).cast(pair_type(own.key, own.value)).alias(f"p{port}")
        for port, own in enumerate(types)
    ]
