"""Average of the last ten values of each partition: as a processor, and as a fold that needs no Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from tidemill import Processor, Record, StreamsBuilder, Topology, record, serdes, state_store

if TYPE_CHECKING:
    from programs.conftest import Run

LAST = 10


def _with(values: Any, value: Any) -> Any:
    """The values and one more, of which the last ten stay."""
    longer = F.concat(values, F.array(value))
    return F.slice(longer, F.greatest(F.lit(1), F.size(longer) - (LAST - 1)), LAST)


def _average(values: Any) -> Any:
    return F.aggregate(values, F.lit(0.0), lambda total, value: total + value) / F.size(values)


def folded() -> StreamsBuilder:
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


class AverageOfTen(Processor):
    """Keeps the last ten values of the partition it works on."""

    stores = (state_store("last-ten", key=serdes.int, value=serdes.json("array<double>")),)

    def process(self, record: Record) -> None:
        place = self.context.record_metadata()
        assert place is not None
        store = self.context.state_store("last-ten")
        values = [*(store.get(place.partition) or ()), record.value][-LAST:]
        store.put(place.partition, values)
        self.context.forward(record.with_key(place.partition).with_value(sum(values) / len(values)))


def processed() -> StreamsBuilder:
    builder = StreamsBuilder()
    readings = builder.stream("readings", key=serdes.string, value=serdes.double)
    readings.process(AverageOfTen, key=serdes.int, value=serdes.double).to("averages")
    return builder


@pytest.mark.parametrize("program", [folded, processed])
def test_average_moves_with_the_last_ten(run: Run, program: Callable[[], StreamsBuilder]) -> None:
    driver = run(program())
    readings = driver.create_input_topic("readings", key=serdes.string, value=serdes.double)
    averages = driver.create_output_topic("averages", key=serdes.int, value=serdes.double)
    values = [float(n * n) for n in range(1, 26)]
    for count, value in enumerate(values, start=1):
        # The key plays no part: two sensors of one partition share the average.
        readings.pipe_input("ab"[count % 2], value, timestamp=count)
        last = values[max(0, count - 10) : count]
        assert [(r.key, r.value) for r in averages.read_records()] == [(0, sum(last) / len(last))]


def test_no_python_runs_in_the_fold(tiers: Callable[[Topology], set[str]]) -> None:
    assert "python" not in tiers(folded().build())


def test_only_the_processor_is_python(tiers: Callable[[Topology], set[str]]) -> None:
    assert "python" in tiers(processed().build())
