"""What leaves a topology, as records for topics: their topic, their bytes, and what cannot be written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidemill.engine import letters, serdes
from tidemill.engine.columns import Columns
from tidemill.engine.frames import numbers_of
from tidemill.engine.handlers import PRODUCTION, Handlers, Outcome
from tidemill.engine.lowering import Types
from tidemill.engine.placement import Partitions, Placed, placed, places, with_partitions
from tidemill.topology.nodes import Sink


@dataclass(frozen=True, slots=True)
class Record:
    """The parts of a record, null in rows of other ports."""

    topic: Column
    key: Column
    value: Column
    error: Column | None = None
    """A struct (error, message, trace), null where all went well."""


def encoded(
    frame: DataFrame,
    sinks: Sequence[tuple[Sink | None, Types]],
    columns: Columns,
    handlers: Handlers,
    tasks: Sequence[int] | None,
    partitions: Partitions,
) -> DataFrame:
    """Rows that left the last level, as records for topics (none for a barrier); tasks count from 0 again.

    Where there is no sink, a port has records that are problems. Without tasks, records are numbered by
    where they were read.
    """
    frame = with_partitions(_tried(frame, sinks, columns, handlers), _placed(sinks, columns), partitions)
    topic, key, value = (F.lit(None).cast(kind) for kind in ("string", "binary", "binary"))
    problem, sender, failed = F.lit(False), F.lit(None).cast("string"), F.lit(None).cast(_ERROR)
    for port, (node, types) in reversed(list(enumerate(sinks))):
        here, pair = F.col("port") == port, F.col(f"p{port}")
        if node is None:
            made = Record(F.lit(handlers.topic), pair["key"], pair["value"])
            problem = here
        else:
            made = _record(frame, port, node, types, columns)
            sender = F.when(here, F.lit(node.name)).otherwise(sender)
        topic = F.when(here, made.topic).otherwise(topic)
        key = F.when(here, made.key).otherwise(key)
        value = F.when(here, made.value).otherwise(value)
        if made.error is not None:
            failed = F.when(here, made.error).otherwise(failed)
    numbers = (F.col("partition"), F.col("offset"))
    if tasks is not None:
        numbers = (F.array_position(numbers_of(tasks), F.col("task")) - 1, F.col("sequence"))
    rows = frame.select(
        topic.alias("topic"),
        key.alias("key"),
        value.alias("value"),
        F.col("headers"),
        F.timestamp_millis(F.col("time")).alias("timestamp"),
        numbers[0].cast("int").alias("task"),
        numbers[1].alias("sequence"),
        *([F.col("topic").alias("origin")] if tasks is None else []),
        problem.alias("problem"),
        sender.alias("sink"),
        *places(frame),
        *([failed.alias("failed"), *_source()] if handlers.production is not Outcome.FAIL else []),
    )
    return rows if handlers.production is Outcome.FAIL else set_aside(rows, handlers)


def set_aside(rows: DataFrame, handlers: Handlers) -> DataFrame:
    """Rows without bytes are replaced by the records they were made from, with the reason in their headers.

    Besides the parts of a record, rows have `sink`, `failed` and where they come from: `from_topic`,
    `from_partition`, `from_offset`, `raw`.
    """
    has_failed = F.col("failed").isNotNull()
    reason = {
        letters.KIND: F.lit(PRODUCTION),
        letters.APPLICATION: F.lit(handlers.application_id),
        letters.NODE: F.col("sink"),
        letters.EXCEPTION: F.col("failed")["error"],
        letters.MESSAGE: F.col("failed")["message"],
        letters.STACKTRACE: F.col("failed")["trace"],
        letters.TOPIC: F.coalesce(F.col("from_topic"), F.lit("")),
        letters.PARTITION: F.coalesce(F.col("from_partition").cast("string"), F.lit("")),
        letters.OFFSET: F.coalesce(F.col("from_offset").cast("string"), F.lit("")),
    }
    raw = F.col("raw")
    replaced = {
        "topic": F.when(has_failed, F.lit(handlers.topic)).otherwise(F.col("topic")),
        "key": F.when(has_failed, raw["key"]).otherwise(F.col("key")),
        "value": F.when(has_failed, raw["value"]).otherwise(F.col("value")),
        "headers": F.when(has_failed, letters.with_reason(raw["headers"], reason)).otherwise(
            F.col("headers")
        ),
        "timestamp": F.when(
            has_failed, F.coalesce(F.timestamp_millis(raw["time"]), F.col("timestamp"))
        ).otherwise(F.col("timestamp")),
        "problem": has_failed | F.col("problem"),
    }
    # A dead letter goes where its own key belongs, whatever its record's sink says.
    replaced |= {
        name: F.when(~has_failed, F.col(name)) for name in ("partition", "unhashed") if name in rows.columns
    }
    return rows.withColumns(replaced).drop("failed", "from_topic", "from_partition", "from_offset", "raw")


def _placed(sinks: Sequence[tuple[Sink | None, Types]], columns: Columns) -> list[Placed]:
    found = []
    for port, (node, types) in enumerate(sinks):
        if node is not None:
            here, pair = F.col("port") == port, F.col(f"p{port}")
            found.append(placed(columns, node, types, here, pair["key"], pair["value"]))
    return found


_ERROR = "struct<error:string,message:string,trace:string>"


def _source() -> list[Column]:
    names = {"topic": "from_topic", "partition": "from_partition", "offset": "from_offset", "raw": "raw"}
    return [F.col(name).alias(alias) for name, alias in names.items()]


def _tried(
    frame: DataFrame, sinks: Sequence[tuple[Sink | None, Types]], columns: Columns, handlers: Handlers
) -> DataFrame:
    """The frame with what encoding gave or threw, for sinks whose failures do not fail the query."""
    if handlers.production is Outcome.FAIL:
        return frame
    for port, (node, types) in enumerate(sinks):
        if node is not None and not runs_python(node, types):
            pair = F.col(f"p{port}")
            tried = try_to_encode(columns, node, types, pair["key"], pair["value"])
            frame = frame.withColumn(f"t{port}", F.when(F.col("port") == port, tried))
    return frame


def try_to_encode(columns: Columns, node: Sink, types: Types, key: Column, value: Column) -> Column:
    """A struct: the record as `result`, or what was thrown as `error`, `message` and `trace`."""

    def made(k: Column, v: Column) -> Column:
        record = parts(node, types, k, v)
        return F.struct(record.topic.alias("topic"), record.key.alias("key"), record.value.alias("value"))

    evaluator = columns.of(node, made, {"key": types.key, "value": types.value}).evaluator
    return columns.tried(evaluator, key, value)


def parts(node: Sink, types: Types, key: Column, value: Column) -> Record:
    """The topic and the bytes of a sink's records."""
    topic: Any = F.lit(node.topic) if node.chooser is None else node.chooser(key, value)
    return Record(
        topic if isinstance(topic, Column) else F.lit(topic),
        serdes.encode(node.key or serdes.default_serde(types.key), key),
        serdes.encode(node.value or serdes.default_serde(types.value), value),
    )


def runs_python(node: Sink, types: Types) -> bool:
    """Whether Python is needed to encode a sink's records."""
    key, value = node.key or serdes.default_serde(types.key), node.value or serdes.default_serde(types.value)
    return serdes.runs_python(key) or serdes.runs_python(value)


def _record(frame: DataFrame, port: int, node: Sink, types: Types, columns: Columns) -> Record:
    if f"t{port}" in frame.columns:
        tried = F.col(f"t{port}")
        result = tried["result"]
        thrown = F.struct(tried["error"], tried["message"], tried["trace"]).cast(_ERROR)
        error = F.when(tried["error"].isNotNull(), thrown)
        return Record(result["topic"], result["key"], result["value"], error)
    pair = F.col(f"p{port}")
    made = parts(node, types, pair["key"], pair["value"])
    where = (F.col("topic"), F.col("partition"), F.col("offset"))
    return Record(*(columns.located(node, part, *where) for part in (made.topic, made.key, made.value)))
