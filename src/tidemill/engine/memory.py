"""A topology run from memory to memory, one record at a time: the engine of the test driver."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemill.engine.pipeline import build_pipeline
from tidemill.engine.session import LOCAL_CHECKPOINT, spark_session
from tidemill.errors import TidemillError, UsageError
from tidemill.topology import Topology
from tidemill.topology.nodes import TopicSource

Headers = Sequence[tuple[str, bytes | None]]

_WIRE = "topic string, offset bigint, key string, value string, timestamp bigint, headers array<struct<key:string,value:string>>"


class MemoryRun:
    """One running query over memory streams; `process` takes a record through it."""

    def __init__(self, topology: Topology, folder: Path, *, caching: bool = True, spark: SparkSession | None = None) -> None:
        self._spark = spark or spark_session("local[2]", conf={"spark.sql.streaming.checkpointLocation": str(folder)})
        for name, value in LOCAL_CHECKPOINT.items():
            if name.startswith("spark.sql."):
                self._spark.conf.set(name, value)
        self._spark.conf.set("spark.sql.shuffle.partitions", "1")
        self._id = uuid.uuid4().hex
        self._streams: dict[str, list[Any]] = {}
        frames = {node.name: self._source(node) for node in topology.sources}
        pipeline = build_pipeline(self._spark, topology, frames, tasks=1, caching=caching)
        self._dropped = pipeline.dropped
        self._queue = self._jvm.io.tidemill.spark.RowQueue
        writer = self._queue.into(self._id, pipeline.output._jdf)
        self._query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()

    @property
    def _jvm(self) -> Any:
        return self._spark._jvm

    def process(
        self, topic: str, offset: int, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers
    ) -> Iterator[tuple[str, bytes | None, bytes | None, int, Headers]]:
        """Take one record through the topology; yields (topic, key, value, timestamp, headers) of the results."""
        if topic not in self._streams:
            raise UsageError(
                f"the topology does not read `{topic}`", remedy=f"it reads {', '.join(sorted(self._streams))}"
            )
        line = json.dumps(
            {
                "topic": topic,
                "offset": offset,
                "key": _text(key),
                "value": _text(value),
                "timestamp": timestamp,
                "headers": [{"key": name, "value": _text(data)} for name, data in headers],
            }
        )
        for stream in self._streams[topic]:
            stream.addData(self._jvm.PythonUtils.toSeq([line]))
        try:
            self._query.processAllAvailable()
        except Exception as error:
            raise EngineError(_cause(error)) from error
        for fields in self._queue.drain(self._id):
            name, out_key, out_value, out_headers, time = list(fields)[:5]
            yield name, _bytes(out_key), _bytes(out_value), time.getTime(), _headers(out_headers)

    def stop(self) -> None:
        """Stop the query."""
        self._query.stop()
        self._queue.forget(self._id)

    def _source(self, node: TopicSource) -> DataFrame:
        encoders = self._jvm.org.apache.spark.sql.Encoders
        module = getattr(self._jvm.org.apache.spark.sql.execution.streaming.runtime, "MemoryStream$")
        stream = getattr(module, "MODULE$").apply(encoders.STRING(), self._spark._jsparkSession)
        for topic in node.topics:
            self._streams.setdefault(topic, []).append(stream)
        lines = DataFrame(stream.toDF(), self._spark)
        record = F.from_json(F.col("value"), _WIRE)
        headers = F.transform(
            record["headers"], lambda h: F.struct(h["key"].alias("key"), F.unbase64(h["value"]).alias("value"))
        )
        return lines.select(record.alias("r"), headers.alias("headers")).select(
            F.unbase64("r.key").alias("key"),
            F.unbase64("r.value").alias("value"),
            F.col("r.topic").alias("topic"),
            F.lit(0).alias("partition"),
            F.col("r.offset").alias("offset"),
            F.timestamp_millis("r.timestamp").alias("timestamp"),
            F.col("headers"),
        )


class EngineError(TidemillError):
    """A record could not be processed."""

    code = "ENGINE"


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _bytes(data: Any) -> bytes | None:
    return None if data is None else bytes(data)


def _headers(rows: Any) -> Headers:
    if rows is None:
        return ()
    return tuple((row.getString(0), _bytes(row.get(1))) for row in _items(rows))


def _items(rows: Any) -> Iterator[Any]:
    for position in range(rows.size()):
        yield rows.apply(position)


def _cause(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    while java is not None and java.getCause() is not None:
        java = java.getCause()
    return str(error).split("\n")[0] if java is None else str(java.getMessage())
