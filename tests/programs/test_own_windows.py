"""What users bring of their own: windows, partitions, Python in folds and joins; and streams in circles."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidemill import StreamsBuilder, python_fn, serdes, windows
from tidemill.serde.windowed import Windowed
from tidemill.time import wall_clock

if TYPE_CHECKING:
    from programs.conftest import Run


def _day_in_oslo(time: Column) -> list[tuple[Column, Column]]:
    local = F.date_trunc("day", F.from_utc_timestamp(time, "Europe/Oslo"))
    return [
        (
            F.to_utc_timestamp(local, "Europe/Oslo"),
            F.to_utc_timestamp(local + F.expr("interval 1 day"), "Europe/Oslo"),
        )
    ]


def _millis(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)


def test_own_windows_and_streams_that_meet_themselves(run: Run) -> None:
    builder = StreamsBuilder()
    visits = builder.stream("visits", key=serdes.string, value=serdes.string)
    days = windows.custom(_day_in_oslo, "25 hours", grace="1 hour")
    visits.group_by_key().windowed_by(days).count(store="days").to_stream().to("days")
    # A stream meets what was made of it under a new key.
    orders = builder.stream("orders", key=serdes.string, value=serdes.string)
    times = orders.group_by(lambda _, customer: customer).count()
    as_keys = orders.select_key(lambda _, customer: customer)
    as_keys.left_join(times, lambda customer, count: F.concat(customer, F.lit(" "), count.cast("string"))).to(
        "seen"
    )
    back = times.to_stream().select_key(lambda customer, _: customer).to_table()
    orders.left_join(back, lambda value, count: F.coalesce(count.cast("string"), value)).to("loop")
    now = builder.stream("clocked", key=serdes.string, value=serdes.string, timestamp=wall_clock())
    now.to("now")
    # A partition per record: two copies, one, or none.
    visits.to("copies", partitioner=lambda key, value, partitions: _partitions(value, partitions))
    driver = run(builder)
    source = driver.create_input_topic("visits", key=serdes.string, value=serdes.string)
    source.pipe_key_value_list([("a", "one")], timestamp=_millis(2026, 3, 28, 23, 30))
    source.pipe_key_value_list([("a", "two")], timestamp=_millis(2026, 3, 29, 21, 59))
    source.pipe_key_value_list([("a", "none")], timestamp=_millis(2026, 3, 29, 22, 0))
    source.pipe_key_value_list([("a", "one")], timestamp=_millis(2026, 3, 28, 12, 0))
    results = driver.create_output_topic(
        "days", key=serdes.time_windowed(serdes.string), value=serdes.long
    ).read_records()
    first, second = _millis(2026, 3, 28, 23), _millis(2026, 3, 29, 22)
    # The day on which summer time begins has 23 hours; the day before is closed when its record comes.
    assert [(r.key.start, r.value) for r in results] == [(first, 1), (first, 2), (second, 1)]
    assert driver.metrics()["dropped-records.late"] == 1
    kept = driver.get_window_store("days")
    assert [(key.start, value) for key, value in kept.all()] == [(first, 2), (second, 1)]
    copies = driver.create_output_topic("copies", key=serdes.string, value=serdes.string)
    assert copies.read_values_to_list() == ["one", "two", "two", "one"]

    clocked = driver.create_input_topic("clocked", key=serdes.string, value=serdes.string)
    before = time.time_ns() // 1_000_000
    clocked.pipe_input("a", "x", timestamp=5)
    result = driver.create_output_topic("now", key=serdes.string, value=serdes.string).read_record()
    assert abs(result.timestamp - before) < 600_000

    piped = driver.create_input_topic("orders", key=serdes.string, value=serdes.string)
    piped.pipe_key_value_list(
        [("1", "ann"), ("ann", "bob"), ("2", "ann"), ("ann", "eve")], advance=1, timestamp=0
    )
    loop = driver.create_output_topic("loop", key=serdes.string, value=serdes.string)
    assert loop.read_key_values_to_list() == [("1", "ann"), ("ann", "1"), ("2", "ann"), ("ann", "2")]
    seen = driver.create_output_topic("seen", key=serdes.string, value=serdes.string)
    assert len(seen.read_records()) == 4


def _partitions(value: Column, partitions: Column) -> Column:
    last = (partitions - 1).cast("int")
    return (
        F.when(value == "two", F.array(F.lit(0), last))
        .when(value == "none", F.array().cast("array<int>"))
        .otherwise(F.lit(None).cast("array<int>"))
    )


def test_functions_of_python_values_in_windows_and_joins(run: Run) -> None:
    builder = StreamsBuilder()
    numbers = builder.stream("numbers", key=serdes.string, value=serdes.long)
    names = builder.table("names", key=serdes.string, value=serdes.string)

    def spread(key: str, value: int, seen: list[int]) -> list[int]:
        return sorted([*seen, value]) if key != "gone" else None

    grouped = numbers.group_by_key()
    tens = grouped.windowed_by(windows.tumbling(10))
    tens.aggregate(list, python_fn(spread, returns="array<bigint>"), store="spread").to_stream().to("spread")
    visits = grouped.windowed_by(windows.session(5))
    visits.reduce(python_fn(lambda a, b: a * 10 + b, returns="bigint")).to_stream().to("sessions")
    joined = python_fn(lambda key, number, name: f"{key}:{name or '?'}:{number}", returns="string")
    numbers.left_join(names, joined).to("joined")
    driver = run(builder)
    piped = driver.create_input_topic("numbers", key=serdes.string, value=serdes.long)
    driver.create_input_topic("names", key=serdes.string, value=serdes.string).pipe_input("b", "Bea")
    for name, number, at in [("a", 3, 1), ("a", 1, 8), ("b", 2, 9), ("a", 7, 4), ("gone", 1, 12)]:
        piped.pipe_input(name, number, timestamp=at)
    key = serdes.time_windowed(serdes.string, 10)
    spread_out = driver.create_output_topic("spread", key=key, value=serdes.json("array<bigint>"))
    assert spread_out.read_key_values_to_list() == [
        (Windowed("a", 0, 10), [3]),
        (Windowed("a", 0, 10), [1, 3]),
        (Windowed("b", 0, 10), [2]),
        (Windowed("a", 0, 10), [1, 3, 7]),
        (Windowed("gone", 10, 20), None),
    ]
    assert driver.get_window_store("spread").fetch("a", 0) == [1, 3, 7]
    sessions = driver.create_output_topic(
        "sessions", key=serdes.session_windowed(serdes.string), value=serdes.long
    )
    assert sessions.read_key_values_to_list() == [
        (Windowed("a", 1, 1), 3),
        (Windowed("a", 8, 8), 1),
        (Windowed("b", 9, 9), 2),
        # 4 lies within five of both: they become one session, in the order of their ends.
        (Windowed("a", 1, 1), None),
        (Windowed("a", 8, 8), None),
        (Windowed("a", 1, 8), 317),
        (Windowed("gone", 12, 12), 1),
    ]
    results = driver.create_output_topic("joined", key=serdes.string, value=serdes.string)
    assert results.read_values_to_list() == ["a:?:3", "a:?:1", "b:Bea:2", "a:?:7", "gone:?:1"]
