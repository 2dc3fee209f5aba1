"""Size on one machine: how fast a large topology is planned, and many keys in a store."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from operators.batches import Record, run_batches
from tidemill import StreamsBuilder, serdes
from tidemill.engine.pipeline import SOURCE_COLUMNS, build_pipeline


def test_thirty_operators_are_planned_in_two_seconds(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    stream = builder.stream("in", key=serdes.string, value=serdes.long)
    for n in range(13):
        stream = stream.map_values(lambda value, n=n: value + n, name=f"add-{n}")
        stream = stream.filter(lambda value: value > 0, name=f"positive-{n}")
    counts = stream.group_by_key().count(store="counts")
    counts.to_stream().to("out")
    topology = builder.build()
    assert len(topology) >= 30
    frame = spark.readStream.schema(SOURCE_COLUMNS).parquet(str(tmp_path))
    build_pipeline(spark, topology, dict.fromkeys((s.name for s in topology.sources), frame), tasks=2)
    took = []
    for _ in range(3):
        begin = time.perf_counter()
        build_pipeline(spark, topology, dict.fromkeys((s.name for s in topology.sources), frame), tasks=2)
        took.append(time.perf_counter() - begin)
    assert min(took) < 2, f"planning took {min(took):.2f} s"


@pytest.mark.slow
@pytest.mark.conformance
def test_a_million_keys_in_batches_of_a_hundred_thousand(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    builder.stream("in", key=serdes.string, value=serdes.long).group_by_key().count(store="n").to_stream().to(
        "out"
    )
    one = serdes.long.encode(1)
    batches = [
        [Record("in", f"{batch}-{n}".encode(), one, batch, n % 4) for n in range(100_000)]
        for batch in range(10)
    ]
    results = run_batches(spark, builder.build(), [*batches, batches[0]], tmp_path, tasks=4)
    assert [len(batch) for batch in results] == [100_000] * 11
    assert {record.value for record in results[10]} == {serdes.long.encode(2)}
    reader = spark.read.format("statestore").option("stateVarName", "n")
    assert reader.load(str(tmp_path / "checkpoint")).count() == 1_000_000
