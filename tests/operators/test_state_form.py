"""State is kept in the form of Spark's own map state: its tools read it, and earlier checkpoints go on."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from operators.batches import Record, run_batches
from tidemill import StreamsBuilder, serdes


def test_sparks_own_reader_finds_every_row(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    builder.table("t", key=serdes.string, value=serdes.long, store="rows").to_stream().to("out")
    names = [f"{'k' * n}{n}" for n in range(1, 20)]  # shorter than a word of eight bytes, as long, and longer
    batches = [
        [
            Record("t", name.encode(), serdes.long.encode(round_), round_ * 100 + n, n % 2)
            for n, name in enumerate(names)
        ]
        for round_ in (1, 2)
    ]
    run_batches(spark, builder.build(), batches, tmp_path, tasks=2)
    reader = spark.read.format("statestore").option("stateVarName", "rows")
    rows = reader.load(str(tmp_path / "checkpoint")).collect()
    # A key is a row of one string, behind two words: its nulls, and where and how long it is.
    found = {
        bytes(row["user_map_key"][0])[16:].rstrip(b"\0").decode(): bytes(row["user_map_value"][0])
        for row in rows
    }
    assert sorted(found) == sorted(names)
    # A value is a row of a number and a time.
    kept = {name: (_long(value, 1), _long(value, 2)) for name, value in found.items()}
    assert kept == {name: (2, 200 + n) for n, name in enumerate(names)}
    assert len({row["key"][0] for row in rows}) == 2, "both tasks have some"


def _long(row: bytes, word: int) -> int:
    return int.from_bytes(row[8 * word : 8 * word + 8], "little", signed=True)
