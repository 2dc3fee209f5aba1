"""The road of every operator: DataFrame, py4j, a kernel processor, DataFrame; in both of Spark's modes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


class Tally:
    """A running query of the kernel's smallest processor: lines `group:amount` in, (group, total) out."""

    def __init__(self, spark: SparkSession, stream: Any, checkpoint: Path, *, real_time: bool) -> None:
        jvm: Any = spark._jvm
        self._jvm, self._stream, self._id = jvm, stream, str(checkpoint)
        self._queue = jvm.io.tidemill.memory.RowQueue
        parts = F.split("value", ":")
        rows = DataFrame(stream.toDF(), spark).select(
            parts[0].cast("int").alias("group"), parts[1].cast("long").alias("amount")
        )
        writer = self._queue.into(self._id, jvm.io.tidemill.Tally.apply(rows._jdf))
        if real_time:
            writer = writer.trigger(jvm.org.apache.spark.sql.streaming.Trigger.RealTime("10 seconds"))
        self.query = writer.option("checkpointLocation", str(checkpoint)).start()

    def send(self, *lines: str) -> list[tuple[int, int]]:
        """Results of these lines, one per group they touch."""
        self._stream.addData(self._jvm.PythonUtils.toSeq(list(lines)))
        wanted = len({line.partition(":")[0] for line in lines})
        found: list[tuple[int, int]] = []
        end = time.monotonic() + 60
        while len(found) < wanted:
            assert self.query.isActive(), self.query.exception()
            assert time.monotonic() < end, f"only {found} within a minute"
            found += [(row[0], row[1]) for row in map(list, self._queue.drain(self._id))]
            time.sleep(0.02)
        return sorted(found)

    def stop(self) -> None:
        self.query.stop()
        self._queue.forget(self._id)


@pytest.fixture(params=["micro-batch", "real-time"])
def tally(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Iterator[Tally]:
    jvm: Any = spark._jvm
    lines = jvm.org.apache.spark.sql.Encoders.STRING()
    streaming = jvm.org.apache.spark.sql.execution.streaming
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    if request.param == "real-time":
        stream = streaming.sources.LowLatencyMemoryStream.singlePartition(spark._jsparkSession, lines)
    else:
        module = getattr(streaming.runtime, "MemoryStream$")
        stream = getattr(module, "MODULE$").apply(lines, spark._jsparkSession)
    running = Tally(spark, stream, tmp_path / "checkpoint", real_time=request.param == "real-time")
    yield running
    running.stop()
    spark.conf.set("spark.sql.shuffle.partitions", before)


def test_a_processor_keeps_a_total_per_group(tally: Tally) -> None:
    steps: Sequence[tuple[tuple[str, ...], list[tuple[int, int]]]] = [
        (("1:10", "2:5"), [(1, 10), (2, 5)]),
        (("1:7",), [(1, 17)]),
        (("2:-5", "3:1"), [(2, 0), (3, 1)]),
    ]
    for lines, totals in steps:
        assert tally.send(*lines) == totals


def test_workers_run_this_python(spark: SparkSession) -> None:
    import sys

    from pyspark.sql.types import StringType

    executable = F.udf(lambda _: sys.executable, StringType(), useArrow=False)
    assert spark.range(1).select(executable("id")).first()[0] == sys.executable
