"""The test driver's own verbs: lists of records, times that advance, single results, counts and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemill import StreamsBuilder, serdes, windows
from tidemill.dsl import ValueAndTimestamp
from tidemill.errors import UsageError
from tidemill.testing import TestRecord

if TYPE_CHECKING:
    from programs.conftest import Run


def test_driver_verbs(run: Run) -> None:
    builder = StreamsBuilder()
    texts = builder.stream("in", key=serdes.string, value=serdes.string)
    texts.to("copies")
    texts.group_by_key().count(store="counts").to_stream().to("counts")
    texts.group_by_key().windowed_by(windows.tumbling(10)).count(store="by-ten")
    driver = run(builder)
    assert driver.produced_topic_names() == set()
    source = driver.create_input_topic(
        "in", key=serdes.string, value=serdes.string, start=100, auto_advance=5
    )
    copies = driver.create_output_topic("copies", key=serdes.string, value=serdes.string)
    counts = driver.create_output_topic("counts", key=serdes.string, value=serdes.long)

    # A topic's own time begins at `start` and moves with every record that takes it.
    source.pipe_key_value_list([("a", "1"), ("b", "2"), ("a", "3")])
    source.advance_time(1000)
    source.pipe_value("no key")
    source.pipe_values(["x", "y"], timestamp=7, advance=2)
    headers = (("trace", b"1"), ("none", None))
    source.pipe_record_list([TestRecord("c", "4", 50, headers), TestRecord("a", None)])
    assert [record.timestamp for record in copies.read_records()] == [100, 105, 110, 1115, 7, 9, 50, 1120]

    assert (counts.queue_size(), counts.is_empty()) == (4, False)
    assert counts.read_key_value() == ("a", 1)
    assert counts.read_value() == 1
    assert counts.read_record() == TestRecord("a", 2, 110)
    assert counts.read_record() == TestRecord("c", 1, 50, headers)
    assert counts.is_empty()
    with pytest.raises(UsageError, match="nothing to read in `counts`"):
        counts.read_value()

    source.pipe_record(TestRecord("a", "5", 2000))
    source.pipe_key_value_list([("a", "6"), ("b", "7")], timestamp=3000, advance="1 second")
    assert counts.read_key_values_to_map() == {"a": 4, "b": 2}
    assert copies.read_key_values_to_list() == [("a", "5"), ("a", "6"), ("b", "7")]
    assert copies.read_values_to_list() == []
    assert driver.produced_topic_names() == {"copies", "counts"}
    assert driver.metrics()["dropped-records"] == sum(
        count for name, count in driver.metrics().items() if name != "dropped-records"
    )
    # Three records without a key miss both aggregations, one without a value misses the first.
    assert driver.metrics()["dropped-records.null_key"] == 6
    assert driver.metrics()["dropped-records.null_value"] == 1

    assert driver.get_key_value_store("counts").get("a") == 4
    assert driver.get_timestamped_key_value_store("counts").get("a") == ValueAndTimestamp(4, 3000)
    windowed = driver.get_timestamped_window_store("by-ten")
    assert windowed.fetch("b", 4000) == ValueAndTimestamp(1, 4000)
    with pytest.raises(UsageError, match="needs a time to begin at"):
        source.pipe_values(["x"], advance=5)
    with pytest.raises(UsageError, match="does not read `other`"):
        driver.create_input_topic("other", key=serdes.string, value=serdes.string).pipe_value("x")
