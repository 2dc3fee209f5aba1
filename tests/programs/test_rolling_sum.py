"""Rolling sum: for every record, the sum of its key's values of the last ten seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from tidemill import StreamsBuilder, Topology, serdes, windows

if TYPE_CHECKING:
    from programs.conftest import Run


def rolling_sum() -> StreamsBuilder:
    builder = StreamsBuilder()
    (
        builder.stream("numbers", key=serdes.string, value=serdes.long)
        .group_by_key()
        .windowed_by(windows.sliding("10 seconds", grace="5 seconds"))
        .aggregate(lambda key, value: F.sum(value), store="rolling-sum")
        .to_stream()
        .to("sums", value=serdes.long)
    )
    return builder


def test_each_record_ends_a_window_with_its_sum(run: Run) -> None:
    driver = run(rolling_sum())
    numbers = driver.create_input_topic("numbers", key=serdes.string, value=serdes.long)
    sums = driver.create_output_topic(
        "sums", key=serdes.time_windowed(serdes.string, 10_000), value=serdes.long
    )

    def after(key: str, value: int, second: int) -> list[tuple[str, int, int, int]]:
        numbers.pipe_input(key, value, timestamp=second * 1000)
        return [(r.key.key, r.key.start, r.key.end, r.value) for r in sums.read_records()]

    assert after("a", 1, 20) == [("a", 10_000, 20_000, 1)]
    assert after("a", 2, 25) == [("a", 20_001, 30_001, 2), ("a", 15_000, 25_000, 3)]
    assert after("b", 7, 26) == [("b", 16_000, 26_000, 7)]
    # The bounds are inclusive: the record of second 20 still counts in second 30.
    assert after("a", 4, 30) == [
        ("a", 20_001, 30_001, 6),
        ("a", 25_001, 35_001, 4),
        ("a", 20_000, 30_000, 7),
    ]
    # Late by less than the grace: every window around it is brought up to date.
    assert after("a", 100, 28) == [
        ("a", 25_001, 35_001, 104),
        ("a", 20_001, 30_001, 106),
        ("a", 20_000, 30_000, 107),
        ("a", 18_000, 28_000, 103),
        ("a", 28_001, 38_001, 4),
    ]
    assert after("b", 1, 60) == [("b", 50_000, 60_000, 1)]
    assert after("a", 5, 30) == []


def test_no_python_runs(tiers: Callable[[Topology], set[str]]) -> None:
    assert "python" not in tiers(rolling_sum().build())
