"""A record's time is where its source says: its own, one computed from it, or none at all."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tidemill import StreamsBuilder, TopologyError, serdes, time, windows
from tidemill.errors import TidemillError
from tidemill.testing import TopologyTestDriver

EVENT = serdes.json("at bigint, n bigint")


@pytest.mark.parametrize("stateful", [True, False])
def test_time_is_computed_from_the_value(spark: SparkSession, stateful: bool) -> None:
    builder = StreamsBuilder()
    events = builder.stream("in", key=serdes.string, value=EVENT, timestamp=lambda value: value.at)
    if stateful:
        counts = events.group_by_key().windowed_by(windows.tumbling(10)).count(store="n").to_stream()
        counts.map(lambda key, value: (key.key, value)).to("out", value=serdes.long)
    else:
        events.map_values(lambda value: value.n).to("out", value=serdes.long)
    with TopologyTestDriver(builder, spark=spark) as driver:
        source = driver.create_input_topic("in", key=serdes.string, value=EVENT)
        out = driver.create_output_topic("out", key=serdes.string, value=serdes.long)
        for at in (12, 15, 27):
            source.pipe_input("a", {"at": at, "n": 1}, timestamp=999)
        got = [(record.value, record.timestamp) for record in out.read_records()]
    assert got == ([(1, 12), (2, 15), (1, 27)] if stateful else [(1, 12), (1, 15), (1, 27)])


def test_record_without_a_time_is_skipped_or_fails(spark: SparkSession) -> None:
    def run(on_invalid: str) -> list[int]:
        builder = StreamsBuilder()
        at = time.extracted_time(lambda value: value.at, on_invalid=on_invalid)
        events = builder.stream("in", key=serdes.string, value=EVENT, timestamp=at)
        events.group_by_key().count(store="n").to_stream().to("out")
        with TopologyTestDriver(builder, spark=spark) as driver:
            source = driver.create_input_topic("in", key=serdes.string, value=EVENT)
            out = driver.create_output_topic("out", key=serdes.string, value=serdes.long)
            for stamp in (5, -1, 7):
                source.pipe_input("a", {"at": stamp, "n": 1})
            return [record.timestamp or 0 for record in out.read_records()]

    assert run("skip") == [5, 7]
    with pytest.raises(TidemillError, match="no valid time in the record at in 0 1"):
        run("fail")


def test_time_that_is_no_time_is_refused(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    builder.stream("in", key=serdes.string, value=EVENT, timestamp=lambda value: F.lit("noon")).to("out")
    with pytest.raises(TopologyError, match="the timestamp function returns string"):
        TopologyTestDriver(builder, spark=spark)


def test_time_of_the_partition_is_refused(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    at = time.extracted_time(lambda value: value.at, on_invalid="partition-time")
    builder.stream("in", key=serdes.string, value=EVENT, timestamp=at).to("out")
    with pytest.raises(TopologyError, match="cannot take that of its partition"):
        TopologyTestDriver(builder, spark=spark)
