"""Keys of every type keep their rows apart, also those whose bytes have a fixed width."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from tidemill import StreamsBuilder, serdes
from tidemill.testing import TopologyTestDriver

KEYS: dict[str, tuple[Any, list[Any]]] = {
    "long": (serdes.long, [1, -1, 2**62]),
    "int": (serdes.int, [1, -1, 2**30]),
    "double": (serdes.double, [1.5, -1.5, 0.25]),
    "boolean": (serdes.boolean, [True, False]),
    "string": (serdes.string, ["a", "", "ä€"]),
    "struct": (
        serdes.json("a bigint, b string"),
        [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}],
    ),
}


@pytest.mark.parametrize("name", KEYS)
def test_count_per_key(spark: SparkSession, name: str) -> None:
    serde, keys = KEYS[name]
    builder = StreamsBuilder()
    builder.stream("in", key=serde, value=serdes.string).group_by_key().count(store="n").to_stream().to(
        "out", key=serde
    )
    with TopologyTestDriver(builder, spark=spark) as driver:
        source = driver.create_input_topic("in", key=serde, value=serdes.string)
        sink = driver.create_output_topic("out", key=serde, value=serdes.long)
        for times in (1, 2):
            for key in keys:
                source.pipe_input(key, "x", timestamp=times)
                assert [(r.key, r.value) for r in sink.read_records()] == [(key, times)]
