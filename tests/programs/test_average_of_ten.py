"""Average of the last ten values of each partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from tidemill import StreamsBuilder, Topology, record, serdes

if TYPE_CHECKING:
    from programs.conftest import Run

LAST = 10


def _with(values: Any, value: Any) -> Any:
    """The values and one more, of which the last ten stay."""
    longer = F.concat(values, F.array(value))
    return F.slice(longer, F.greatest(F.lit(1), F.size(longer) - (LAST - 1)), LAST)


def _average(values: Any) -> Any:
    return F.aggregate(values, F.lit(0.0), lambda total, value: total + value) / F.size(values)


def average_of_ten() -> StreamsBuilder:
    builder = StreamsBuilder()
    (
        builder.stream("readings", key=serdes.string, value=serdes.double)
        .group_by(lambda key, value: record.partition(), key=serdes.int, name="by-partition")
        .aggregate(
            lambda: F.array().cast("array<double>"),
            lambda partition, value, values: _with(values, value),
            store="last-ten",
        )
        .map_values(_average)
        .to_stream()
        .to("averages", key=serdes.int, value=serdes.double)
    )
    return builder


def test_average_moves_with_the_last_ten(run: Run) -> None:
    driver = run(average_of_ten())
    readings = driver.create_input_topic("readings", key=serdes.string, value=serdes.double)
    averages = driver.create_output_topic("averages", key=serdes.int, value=serdes.double)
    values = [float(n * n) for n in range(1, 26)]
    for count, value in enumerate(values, start=1):
        # The key plays no part: two sensors of one partition share the average.
        readings.pipe_input("ab"[count % 2], value, timestamp=count)
        last = values[max(0, count - 10) : count]
        assert [(r.key, r.value) for r in averages.read_records()] == [(0, sum(last) / len(last))]


def test_no_python_runs(tiers: Callable[[Topology], set[str]]) -> None:
    assert "python" not in tiers(average_of_ten().build())
