"""Stores of tables and aggregations, looked into while the kernel runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemill import StreamsBuilder, serdes, windows
from tidemill.serde.windowed import Windowed
from tidemill.testing import TopologyTestDriver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_stores_of_the_kernel_can_be_looked_into(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    numbers = builder.stream("numbers", key=serdes.string, value=serdes.long)
    grouped = numbers.group_by_key()
    grouped.count(store="counts")
    grouped.windowed_by(windows.tumbling("10 s", grace="1 min")).count(store="by-window")
    grouped.windowed_by(windows.session("5 s", grace="1 min")).count(store="by-session")
    builder.table("prices", key=serdes.string, value=serdes.long, store="prices", versioned="1 h")
    with TopologyTestDriver(builder, spark=spark) as driver:
        topic = driver.create_input_topic("numbers", key=serdes.string, value=serdes.long)
        for key, time in (("b", 1_000), ("a", 2_000), ("a", 4_000), ("a", 12_000)):
            topic.pipe_input(key, 7, timestamp=time)
        prices = driver.create_input_topic("prices", key=serdes.string, value=serdes.long)
        for price, time in ((10, 100), (20, 200)):
            prices.pipe_input("tea", price, timestamp=time)
        assert list(driver.get_key_value_store("counts").all()) == [("a", 3), ("b", 1)]
        assert list(driver.get_window_store("by-window").fetch_range("a", 0, 20_000)) == [(0, 2), (10_000, 1)]
        assert list(driver.get_session_store("by-session").fetch("a")) == [
            (Windowed("a", 2_000, 4_000), 2),
            (Windowed("a", 12_000, 12_000), 1),
        ]
        then = driver.get_versioned_store("prices").get("tea", 150)
        assert then is not None
        assert (then.value, then.valid_to) == (10, 200)
        assert sorted(driver.get_all_state_stores()) == ["by-session", "by-window", "counts", "prices"]
