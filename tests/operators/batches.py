"""Runs a topology over whole batches of records: several partitions, several tasks, one update per key."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tidemill.engine.pipeline import SOURCE_COLUMNS, build_pipeline
from tidemill.topology import Topology


@dataclass(frozen=True)
class Record:
    """A record in or out of a batch; keys and values are bytes."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp: int
    partition: int = 0


def run_batches(
    spark: SparkSession,
    topology: Topology,
    batches: Sequence[Sequence[Record]],
    folder: Path,
    *,
    tasks: int = 3,
    caching: bool = True,
) -> list[list[Record]]:
    """The records every batch sends; the checkpoint stays in `folder`/checkpoint."""
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "2")
    source = session.readStream.schema(SOURCE_COLUMNS).option("maxFilesPerTrigger", 1)
    inbox = folder / "inbox"
    inbox.mkdir()
    frame = source.parquet(str(inbox))
    frames = {node.name: frame for node in topology.sources}
    output = build_pipeline(session, topology, frames, tasks=tasks, caching=caching).output
    run, queue = uuid.uuid4().hex, session._jvm.io.tidemill.memory.RowQueue
    writer = queue.into(run, output._jdf).option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.start()
    offsets: dict[tuple[str, int], int] = {}
    results = []
    try:
        for number, batch in enumerate(batches):
            rows = [_row(record, offsets) for record in batch]
            _write(session, rows, folder, inbox / f"{number:05}.parquet")
            query.processAllAvailable()
            results.append([_record(list(fields)) for fields in queue.drain(run) if fields[0] is not None])
    finally:
        query.stop()
        queue.forget(run)
    return results


def final(results: Sequence[Sequence[Record]]) -> dict[bytes | None, bytes]:
    """The table that all updates add up to."""
    table: dict[bytes | None, bytes] = {}
    for record in (record for batch in results for record in batch):
        if record.value is None:
            table.pop(record.key, None)
        else:
            table[record.key] = record.value
    return table


def _row(record: Record, offsets: dict[tuple[str, int], int]) -> tuple[Any, ...]:
    at = (record.topic, record.partition)
    offsets[at] = offsets.get(at, -1) + 1
    return (record.key, record.value, record.topic, record.partition, offsets[at], record.timestamp)


def _write(session: SparkSession, rows: list[tuple[Any, ...]], folder: Path, target: Path) -> None:
    from pyspark.sql import functions as F

    columns = "key binary, value binary, topic string, partition int, offset bigint, ms bigint"
    frame = session.createDataFrame(rows, columns).select(
        "key",
        "value",
        "topic",
        "partition",
        "offset",
        F.timestamp_millis("ms").alias("timestamp"),
        F.lit(None).cast("array<struct<key:string,value:binary>>").alias("headers"),
    )
    staged = folder / f"staged-{target.stem}"
    frame.coalesce(1).write.parquet(str(staged))
    # Renamed into place, so that the query never sees half a file.
    next(staged.glob("part-*.parquet")).rename(target)


def _record(fields: list[Any]) -> Record:
    topic, key, value, _, time, *_ = fields
    return Record(topic, _bytes(key), _bytes(value), time.getTime())


def _bytes(data: Any) -> bytes | None:
    return None if data is None else bytes(data)
