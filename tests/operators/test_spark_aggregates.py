"""Spark's own aggregates, kept up to date record by record in every kind of window."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tidemill import StreamsBuilder, serdes, windows
from tidemill.testing import TopologyTestDriver

INPUT = [("a", 3, 10), ("a", 1, 12), ("b", 5, 13), ("a", 3, 14)]

AGGREGATES: dict[str, tuple[Any, list[Any]]] = {
    "avg": (lambda value: F.avg(value), [3.0, 2.0, 5.0, 7 / 3]),
    "max_by": (lambda key, value: F.max_by(key, value), ["a", "a", "b", "a"]),
    "stddev": (lambda value: F.stddev_pop(value), [0.0, 1.0, 0.0, pytest.approx(0.9428, abs=1e-4)]),
    "approx_count_distinct": (lambda value: F.approx_count_distinct(value), [1, 2, 1, 2]),
    "collect_list": (lambda value: F.collect_list(value), [[3], [3, 1], [5], [3, 1, 3]]),
    "percentile": (lambda value: F.percentile_approx(value, 0.5), [3, 1, 5, 3]),
    "several": (
        lambda value: F.struct(F.sum(value).alias("sum"), F.count(value).alias("n")),
        [{"sum": 3, "n": 1}, {"sum": 4, "n": 2}, {"sum": 5, "n": 1}, {"sum": 7, "n": 3}],
    ),
    "expression": (lambda value: F.sum(value) * 10 + F.max(value), [33, 43, 55, 73]),
}

WINDOWS: dict[str, Any] = {
    "no window": None,
    "tumbling": windows.tumbling(100),
    "session": windows.session(50),
}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", AGGREGATES)
def test_aggregate(spark: SparkSession, name: str, window: str) -> None:
    fn, expected = AGGREGATES[name]
    builder = StreamsBuilder()
    grouped = builder.stream("in", key=serdes.string, value=serdes.long).group_by_key()
    if WINDOWS[window] is not None:
        grouped = grouped.windowed_by(WINDOWS[window])
    results = grouped.aggregate(fn, store="s").to_stream()
    as_json = results.map_values(lambda value: F.to_json(F.struct(value.alias("r"))))
    as_json.select_key(lambda key, value: F.lit("k")).to("out", value=serdes.string)
    with TopologyTestDriver(builder, spark=spark) as driver:
        source = driver.create_input_topic("in", key=serdes.string, value=serdes.long)
        sink = driver.create_output_topic("out", key=serdes.string, value=serdes.json("r string"))
        seen = []
        for key, value, time in INPUT:
            source.pipe_input(key, value, timestamp=time)
            # A session that grows first deletes its older, shorter self.
            seen.append([r.value["r"] for r in sink.read_records() if r.value.get("r") is not None][-1])
    assert seen == expected
