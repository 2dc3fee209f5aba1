"""What is deleted or expired is really gone from the state store, not only hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from operators.batches import Record, run_batches
from tidemill import StreamsBuilder, serdes, windows

ONE = serdes.long.encode(1)


def _entries(spark: SparkSession, folder: Path, store: str) -> int:
    reader = spark.read.format("statestore").option("stateVarName", store)
    return reader.load(str(folder / "checkpoint")).count()


def _records(topic: str, *times: int, key: str = "a", value: bytes | None = ONE) -> list[Record]:
    return [Record(topic, key.encode(), value, time) for time in times]


def _numbers(builder: StreamsBuilder, topic: str = "in") -> Any:
    return builder.stream(topic, key=serdes.string, value=serdes.long)


def test_tombstone_deletes_the_row_of_a_table(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    builder.table("t", key=serdes.string, value=serdes.long, store="rows").to_stream().to("out")
    rows = [*_records("t", 1, key="a"), *_records("t", 2, key="b")]
    run_batches(spark, builder.build(), [rows, _records("t", 3, key="a", value=None)], tmp_path)
    assert _entries(spark, tmp_path, "rows") == 1


def test_aggregate_that_becomes_null_is_deleted(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    fold = _numbers(builder).group_by_key()
    fold.aggregate(
        lambda: F.lit(0).cast("long"), lambda key, value, sum_: F.nullif(sum_ + value, F.lit(3)), store="sums"
    ).to_stream().to("out")
    run_batches(spark, builder.build(), [_records("in", 1, 2), _records("in", 3)], tmp_path, tasks=1)
    assert _entries(spark, tmp_path, "sums") == 0


def test_closed_windows_are_forgotten(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    grouped = _numbers(builder).group_by_key()
    grouped.windowed_by(windows.tumbling(10, grace=5)).count(store="tumbling").to_stream().to("one")
    grouped.windowed_by(windows.sliding(10, grace=5)).count(store="sliding").to_stream().to("two")
    grouped.windowed_by(windows.session(10, grace=5)).count(store="session").to_stream().to("three")
    early = [record for n in range(20) for record in _records("in", n, n + 3, key=f"k{n}")]
    late = _records("in", 10_000, key="z")
    run_batches(spark, builder.build(), [early, late], tmp_path, tasks=1)
    # Each store keeps all windows of a key in one entry; only the last key has any left.
    assert [_entries(spark, tmp_path, store) for store in ("tumbling", "sliding", "session")] == [1, 1, 1]


def test_join_buffers_are_forgotten_with_what_waited_in_them(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    left, right = _numbers(builder, "l"), _numbers(builder, "r")
    joined = left.outer_join(right, lambda a, b: F.coalesce(a, b), windows.join(10, grace=5), name="pairs")
    joined.to("out")
    early = [record for n in range(20) for record in _records("l", n, key=f"k{n}")]
    late = [*_records("l", 10_000, key="z"), *_records("r", 10_000, key="z")]
    results = run_batches(spark, builder.build(), [early, late], tmp_path, tasks=1)
    assert sum(map(len, results)) == 21  # twenty that stayed alone, and the pair
    assert _entries(spark, tmp_path, "pairs-this-join-store") == 1
    assert _entries(spark, tmp_path, "pairs.lonely") == 0
