"""Processors in a topology, driven by records: what they keep, forward, schedule, and how they fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tidemill import Processor, Record, StreamsBuilder, TopologyBuilder, python_fn, serdes, state_store
from tidemill.dsl import FixedKeyProcessor, ProcessorContext, ValueTransformer
from tidemill.errors import TidemillError, UsageError
from tidemill.serde.windowed import Windowed
from tidemill.testing import TopologyTestDriver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MINUTE = 60_000


class LastTen(Processor):
    """The average of the last ten values of each partition."""

    stores = (state_store("last-ten", key=serdes.int, value=serdes.json("array<bigint>")),)

    def process(self, record: Record) -> None:
        partition = self.context.record_metadata().partition  # type: ignore[union-attr]
        store = self.context.state_store("last-ten")
        values = [*(store.get(partition) or []), record.value][-10:]
        store.put(partition, values)
        self.context.forward(record.with_value(sum(values) / len(values)))


class MissingData(Processor):
    """An alarm for every sensor that was silent for a minute of wall-clock time; one per silence."""

    stores = (state_store("heard", key=serdes.string, value=serdes.long),)

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self._heard = context.state_store("heard")
        context.schedule("30 s", "wall-clock", self._look)  # type: ignore[arg-type]

    def process(self, record: Record) -> None:
        self._heard.put(record.key, self.context.current_system_time_ms())

    def _look(self, now: int) -> None:
        for sensor, last in self._heard.all():
            if now - last >= _MINUTE:
                self.context.forward(Record(sensor, f"silent since {last}", now))
                self._heard.delete(sensor)


class Router(Processor):
    """Sends records to children by name, with what a global store says of them."""

    def process(self, record: Record) -> None:
        rate = self.context.state_store("rates").get(record.key)
        limit = self.context.state_store("limits").get(record.key) or 0
        seen = self.context.state_store("seen")
        seen.put(record.key, (seen.get(record.key) or 0) + 1)
        if rate is None:
            self.context.forward(record.with_value(-1), "unknown")
        elif record.value * rate > limit:
            self.context.forward(record.with_value(record.value * rate), "audit")


class Audit(Processor):
    """Adds how often the key was seen, from the store it shares."""

    def process(self, record: Record) -> None:
        times = self.context.state_store("seen").get(record.key)
        self.context.forward(record.with_value(record.value * 100 + times))


class KeepRate(Processor):
    """Keeps a global store: tenths of what the topic says."""

    def process(self, record: Record) -> None:
        self.context.state_store("rates").put(record.key, record.value // 10)


class Histories(Processor):
    """Keeps every record in a store of each kind."""

    stores = (
        state_store("windows", kind="window", retention="1 h", key=serdes.string, value=serdes.long),
        state_store("sessions", kind="session", retention="1 h", key=serdes.string, value=serdes.long),
        state_store("versions", kind="versioned", retention="1 h", key=serdes.string, value=serdes.long),
    )

    def process(self, record: Record) -> None:
        start = record.timestamp - record.timestamp % 100
        self.context.state_store("windows").put(record.key, record.value, start)
        session = Windowed(record.key, start, record.timestamp)
        self.context.state_store("sessions").put(session, record.value)
        self.context.state_store("versions").put(record.key, record.value, record.timestamp)


class Describe(FixedKeyProcessor):
    """Tells what is known of a record: its place, its headers, the time."""

    def process(self, record: Record) -> None:
        place = self.context.record_metadata()
        assert place is not None
        app, time = self.context.application_id, self.context.current_stream_time_ms()
        text = f"{app} {place.topic}/{place.offset} {dict(record.headers)} {time}"
        self.context.forward(record.with_value(text).with_headers([("seen", b"yes")]))


class WithPrice(Processor):
    """Looks a price up in the store of a table."""

    def process(self, record: Record) -> None:
        price = self.context.state_store("prices").get(record.key)
        self.context.forward(record.with_value(record.value * (price or 0)))


class Smoothed(ValueTransformer):
    """Half the old value and half the new one; called for deletions too."""

    stores = (state_store("smooth", key=serdes.string, value=serdes.long),)

    def transform(self, key: Any, value: Any) -> Any:
        store = self.context.state_store("smooth")
        old = store.get(key)
        new = None if value is None else value if old is None else (old + value) // 2
        store.put(key, new)
        return new


class Failing(Processor):
    def process(self, record: Record) -> None:
        if record.value == 3:
            raise ValueError("three is too much")
        self.context.forward(record)


class WrongType(Processor):
    def process(self, record: Record) -> None:
        self.context.forward(record.with_value({"not": "a long"}))


def _long_topics(driver: TopologyTestDriver, *names: str) -> list[Any]:
    return [driver.create_input_topic(name, key=serdes.string, value=serdes.long) for name in names]


def _read(driver: TopologyTestDriver, topic: str, value: Any = serdes.long) -> list[tuple[Any, Any, int]]:
    records = driver.create_output_topic(topic, key=serdes.string, value=value).read_records()
    return [(each.key, each.value, each.timestamp) for each in records]


def test_average_of_the_last_ten_per_partition(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    numbers = builder.stream("numbers", key=serdes.string, value=serdes.long)
    numbers.process(LastTen, value=serdes.double).to("averages", value=serdes.double)
    with TopologyTestDriver(builder, spark=spark) as driver:
        (topic,) = _long_topics(driver, "numbers")
        for number in range(1, 13):
            topic.pipe_input("k", number, timestamp=number)
        averages = [value for _, value, _ in _read(driver, "averages", serdes.double)]
        assert averages == [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.5, 7.5]
        assert driver.get_key_value_store("last-ten").get(0) == list(range(3, 13))


def test_missing_data_alarm(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    readings = builder.stream("readings", key=serdes.string, value=serdes.long)
    readings.process(MissingData, value=serdes.string).to("alarms")
    with TopologyTestDriver(builder, spark=spark) as driver:
        (topic,) = _long_topics(driver, "readings")
        topic.pipe_input("a", 1, timestamp=5)
        topic.pipe_input("b", 1, timestamp=5)
        driver.advance_wall_clock_time("40 s")
        topic.pipe_input("b", 2, timestamp=6)
        assert _read(driver, "alarms", serdes.string) == []
        driver.advance_wall_clock_time("25 s")
        assert _read(driver, "alarms", serdes.string) == [("a", "silent since 0", 65_000)]
        driver.advance_wall_clock_time("2 min")
        assert _read(driver, "alarms", serdes.string) == [("b", "silent since 40000", 185_000)]
        driver.advance_wall_clock_time("2 min")
        assert _read(driver, "alarms", serdes.string) == []


def test_low_level_topology(spark: SparkSession) -> None:
    longs: dict[str, Any] = {"key": serdes.string, "value": serdes.long}
    builder = TopologyBuilder()
    builder.add_source("in", "amounts", **longs)
    builder.add_global_store("rates", state_store("rates", **longs), "rates", KeepRate)
    builder.add_read_only_state_store("limits", state_store("limits", **longs), "limits")
    builder.add_processor("route", Router, "in").add_processor("audit", Audit, "route")
    builder.add_state_store(state_store("seen", **longs), "route", "audit")
    builder.connect_processor_and_state_stores("route", "limits")
    builder.add_sink("audited", "audited", "audit", **longs).add_sink("unknown", "unknown", "route", **longs)
    with TopologyTestDriver(builder.build(), spark=spark) as driver:
        amounts, rates, limits = _long_topics(driver, "amounts", "rates", "limits")
        rates.pipe_input("a", 20)
        limits.pipe_input("a", 5)
        amounts.pipe_input("a", 2, timestamp=1)
        amounts.pipe_input("a", 3, timestamp=2)
        amounts.pipe_input("b", 3, timestamp=3)
        assert _read(driver, "audited") == [("a", 602, 2)]
        assert _read(driver, "unknown") == [("b", -1, 3)]
        stores = driver.get_all_state_stores()
        assert sorted(stores) == ["limits", "rates", "seen"]
        assert list(stores["seen"].all()) == [("a", 2), ("b", 1)]
        with pytest.raises(UsageError, match="there is no store `sean`"):
            driver.get_key_value_store("sean")


def test_every_kind_of_store_can_be_looked_into(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    builder.stream("in", key=serdes.string, value=serdes.long).process(Histories)
    with TopologyTestDriver(builder, spark=spark) as driver:
        (topic,) = _long_topics(driver, "in")
        for value, time in ((1, 10), (2, 250), (3, 120)):
            topic.pipe_input("k", value, timestamp=time)
        assert list(driver.get_window_store("windows").fetch_range("k", 0, 200)) == [
            (0, 1),
            (100, 3),
            (200, 2),
        ]
        sessions = driver.get_session_store("sessions").find_sessions("k", 100, 250)
        assert [value for _, value in sessions] == [3, 2]
        held = driver.get_versioned_store("versions").get("k", 200)
        assert held is not None
        assert (held.value, held.timestamp, held.valid_to) == (3, 120, 250)
        with pytest.raises(UsageError, match="`windows` is a window store"):
            driver.get_key_value_store("windows")


def test_processor_between_kernel_steps(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    prices = builder.table("prices", key=serdes.string, value=serdes.long, store="prices")
    orders = builder.stream("orders", key=serdes.string, value=serdes.long).filter(lambda value: value > 0)
    turnover = (
        orders.process(WithPrice, stores=["prices"]).group_by_key().reduce(lambda total, new: total + new)
    )
    turnover.to_stream().to("turnover", value=serdes.long)
    prices.transform_values(Smoothed).filter(lambda value: value > 10).to_stream().to("smooth")
    with TopologyTestDriver(builder, spark=spark) as driver:
        price, order = _long_topics(driver, "prices", "orders")
        price.pipe_input("a", 10, timestamp=1)
        price.pipe_input("a", 20, timestamp=2)
        order.pipe_input("a", 3, timestamp=3)
        order.pipe_input("a", -1, timestamp=4)
        order.pipe_input("a", 1, timestamp=5)
        price.pipe_input("a", None, timestamp=6)
        assert _read(driver, "turnover") == [("a", 60, 3), ("a", 80, 5)]
        # A filter that keeps no rows cannot know that nobody has heard of this one.
        assert _read(driver, "smooth") == [("a", None, 1), ("a", 15, 2), ("a", None, 6)]
        assert driver.get_key_value_store("smooth").get("a") is None


def test_functions_of_python_values(spark: SparkSession) -> None:
    def longest(key: str, value: str, best: str) -> str:
        return max(best, value, key=len)

    words = python_fn(lambda value: value.split(), returns="array<string>")
    builder = StreamsBuilder()
    found = builder.stream("lines", key=serdes.string, value=serdes.string).flat_map_values(words)
    best = found.group_by_key().aggregate("", python_fn(longest, returns=str), store="longest")
    best.to_stream().to("longest", value=serdes.string)
    config = {"statestore.cache.max.bytes": "0"}
    with TopologyTestDriver(builder, spark=spark, config=config) as driver:
        lines = driver.create_input_topic("lines", key=serdes.string, value=serdes.string)
        lines.pipe_input("a", "the tide turns", timestamp=9)
        lines.pipe_input("a", "twice", timestamp=4)
        values = [(value, time) for _, value, time in _read(driver, "longest", serdes.string)]
        assert values == [("the", 9), ("tide", 9), ("turns", 9), ("turns", 9)]


def test_record_tells_where_it_comes_from(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    stream = builder.stream("in", key=serdes.string, value=serdes.long)
    stream.process_values(Describe, value=serdes.string).to("out")
    with TopologyTestDriver(builder, spark=spark, config={"application.id": "shop"}) as driver:
        (topic,) = _long_topics(driver, "in")
        topic.pipe_input("k", 1, timestamp=70, headers=[("h", b"x")])
        topic.pipe_input("k", 2, timestamp=30)
        out = driver.create_output_topic("out", key=serdes.string, value=serdes.string).read_records()
        assert [each.value for each in out] == ["shop in/0 {'h': b'x'} 70", "shop in/1 {} 70"]
        assert [list(each.headers) for each in out] == [[("seen", b"yes")]] * 2


def test_exception_names_step_and_line(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    builder.stream("in", key=serdes.string, value=serdes.long).process(Failing, name="careful").to("out")
    with TopologyTestDriver(builder, spark=spark) as driver:
        (topic,) = _long_topics(driver, "in")
        topic.pipe_input("k", 1)
        with pytest.raises(TidemillError) as raised:
            topic.pipe_input("k", 3)
    line = Failing.process.__code__.co_firstlineno + 2
    told, remedy = str(raised.value).splitlines()
    record = "for the record at in, partition 0, offset 1"
    assert told == f"`careful` failed {record}: ValueError: three is too much ({__file__}:{line})"
    assert "processing.exception.handler" in remedy


def test_value_of_the_wrong_type_names_step_and_type(spark: SparkSession) -> None:
    builder = StreamsBuilder()
    builder.stream("in", key=serdes.string, value=serdes.long).process(WrongType, name="mixed").to("out")
    with TopologyTestDriver(builder, spark=spark) as driver:
        (topic,) = _long_topics(driver, "in")
        with pytest.raises(TidemillError, match=r"`mixed` failed for .*: TypeError: .*dict.* is no bigint"):
            topic.pipe_input("k", 1)
