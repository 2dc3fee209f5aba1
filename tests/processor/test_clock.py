"""The wall clock in production: ticks wake processors up while no records come."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemill import Processor, Record, StreamsBuilder, serdes
from tidemill.dsl import ProcessorContext

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Beating(Processor):
    """Tells twice a second that it lives."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        context.schedule("500 ms", "wall-clock", self._beat)  # type: ignore[arg-type]

    def _beat(self, now: int) -> None:
        self.context.forward(Record(self.context.task_id, now, now))


def test_ticks_come_without_records_and_reach_every_task(spark: SparkSession, tmp_path: Path) -> None:
    from tidemill.engine.pipeline import build_pipeline

    builder = StreamsBuilder()
    builder.stream("in", key=serdes.string, value=serdes.long).process(Beating).to("out")
    topology = builder.build()
    jvm: Any = spark._jvm
    source = spark.readStream.format("io.tidemill.memory.MemorySource").option("id", "beating").load()
    pipeline = build_pipeline(spark, topology, {topology.sources[0].name: source}, tasks=2)
    queue = jvm.io.tidemill.memory.RowQueue
    writer = queue.into("beating", pipeline.output._jdf)
    query = writer.option("checkpointLocation", str(tmp_path)).start()
    beats: dict[bytes, list[int]] = {}
    deadline = time.monotonic() + 60
    try:
        while time.monotonic() < deadline and (len(beats) < 2 or min(map(len, beats.values())) < 2):
            time.sleep(0.2)
            for row in queue.drain("beating"):
                beats.setdefault(bytes(row[1]), []).append(int.from_bytes(row[2], "big"))
    finally:
        query.stop()
    assert len(beats) == 2
    assert all(later > earlier for times in beats.values() for earlier, later in pairwise(times))


def test_only_a_processor_that_may_schedule_needs_a_running_clock() -> None:
    from tidemill.engine.python.clock import may_schedule

    assert may_schedule(Beating)
    assert not may_schedule(Processor)
