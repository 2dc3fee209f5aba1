"""The columns around the kernel: Kafka's bytes in, rows from level to level, bytes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, IntegerType, LongType, StructType

from tidemill.engine import serdes
from tidemill.engine.columns import HEADERS
from tidemill.engine.lowering import Types
from tidemill.engine.operators.source import decoded_pair, reads
from tidemill.engine.steps import PhysicalPlan, Step
from tidemill.engine.types import data_type, pair_type
from tidemill.serde.base import Serde
from tidemill.topology.nodes import Sink, TopicSource

BARRIER = -1
"""The port of rows that pass every level unchanged, so that a driver knows all before them is done."""

_QUEUES_PER_PORT = 1_000_000


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
) -> DataFrame:
    """Kafka records as rows of the first level; each reader has its port and takes the rows of its topics."""
    ports = _ports(readers)
    structs, task = {}, _task(F.col("partition") % len(tasks), tasks)
    for port, step in readers:
        node = step.node
        assert isinstance(node, TopicSource)
        key, value = decoded_pair(node)
        structs[port] = F.when(F.col("port") == port, F.struct(key.alias("key"), value.alias("value")))
        if step.name in plan.keyed and plan.levels.get(step.name) == 0:
            by_key = F.when(key.isNotNull(), task_of(key, tasks)).otherwise(task)
            task = F.when(F.col("port") == port, by_key).otherwise(task)
    replicated = [port for port, step in readers if is_replicated(step, plan)]
    if plan.python:
        # The clock of processors: every task is to see it.
        replicated.append(BARRIER)
    rows = frame.select("*", ports.alias("port"))
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
    none = F.lit(None)
    return rows.select(
        F.col("to").cast("int").alias("task"),
        port.alias("port"),
        # Everything one task sent keeps its order, whichever port it takes.
        (F.lit(-1) - F.col("task")).cast("long").alias("queue"),
        F.col("sequence"),
        F.col("time"),
        F.col("headers"),
        none.cast("string").alias("topic"),
        none.cast("int").alias("partition"),
        none.cast("bigint").alias("offset"),
        *_structs(types, {move.new: F.col(f"p{move.old}") for move in moves}),
    )


def without_barriers(frame: DataFrame) -> DataFrame:
    """Rows that are records."""
    return frame.where(F.col("port") != BARRIER)


def encoded(frame: DataFrame, sinks: Sequence[tuple[Sink, Types]], tasks: Sequence[int]) -> DataFrame:
    """Rows that left the last level, as records for topics (none for a barrier); tasks count from 0 again."""
    topic, key, value = (F.lit(None).cast(kind) for kind in ("string", "binary", "binary"))
    for port, (node, types) in reversed(list(enumerate(sinks))):
        here, pair = F.col("port") == port, F.col(f"p{port}")
        name = F.lit(node.topic) if node.chooser is None else node.chooser(pair["key"], pair["value"])
        topic = F.when(here, name).otherwise(topic)
        key = F.when(here, serdes.encode(_serde(node.key, types.key), pair["key"])).otherwise(key)
        value = F.when(here, serdes.encode(_serde(node.value, types.value), pair["value"])).otherwise(value)
    return frame.select(
        topic.alias("topic"),
        key.alias("key"),
        value.alias("value"),
        F.col("headers"),
        F.timestamp_millis(F.col("time")).alias("timestamp"),
        (F.array_position(_numbers(tasks), F.col("task")) - 1).cast("int").alias("task"),
        F.col("sequence"),
    )


def output_schema(ports: Sequence[Types]) -> StructType:
    """What the kernel's outputs write."""
    schema = (
        StructType()
        .add("port", IntegerType())
        .add("task", IntegerType())
        .add("sequence", LongType())
        .add("time", LongType())
        .add("headers", data_type(HEADERS))
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


def _task(index: Column, tasks: Sequence[int]) -> Column:
    return F.lit(tasks[0]) if len(tasks) == 1 else F.get(_numbers(tasks), index)


def _numbers(tasks: Sequence[int]) -> Column:
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


def _spread(task: Column, replicated: Sequence[int], tasks: Sequence[int]) -> Column:
    if not replicated:
        return task
    everywhere = _numbers(tasks)
    return F.explode(F.when(F.col("port").isin(*replicated), everywhere).otherwise(F.array(task)))


def _structs(types: Sequence[Types], present: Mapping[int, Column]) -> list[Column]:
    return [
        present.get(port, F.lit(None)).cast(pair_type(own.key, own.value)).alias(f"p{port}")
        for port, own in enumerate(types)
    ]


def _serde(given: Serde | None, type_: DataType) -> Serde:
    return given or serdes.default_serde(type_)
