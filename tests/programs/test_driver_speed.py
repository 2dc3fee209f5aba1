"""How long the driver takes for a record, after it is warm."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import pytest

from tidemill import Processor, StreamsBuilder, serdes

if TYPE_CHECKING:
    from programs.conftest import Run

pytestmark = pytest.mark.bench


def _measured(run: Run, builder: StreamsBuilder, records: int = 200) -> str:
    driver = run(builder)
    source = driver.create_input_topic("in", key=serdes.string, value=serdes.long)
    for number in range(30):
        source.pipe_input("warm", number)
    taken = []
    for number in range(records):
        began = time.perf_counter()
        source.pipe_input(f"key-{number % 10}", number)
        taken.append(1000 * (time.perf_counter() - began))
    began = time.perf_counter()
    source.pipe_key_value_list((f"key-{number % 10}", number) for number in range(records))
    together = 1000 * (time.perf_counter() - began) / records
    taken.sort()
    median, most = statistics.median(taken), taken[int(0.99 * records)]
    assert median < 300
    return f"median {median:.1f} ms, p99 {most:.1f} ms; {together:.1f} ms each in a list"


def test_milliseconds_per_piped_record(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    counted = StreamsBuilder()
    numbers = counted.stream("in", key=serdes.string, value=serdes.long)
    numbers.group_by_key().count(store="counts").to_stream().to("out")
    staged = StreamsBuilder()
    numbers = staged.stream("in", key=serdes.string, value=serdes.long)
    numbers.group_by(lambda key, value: (value % 3).cast("string")).count().to_stream().to("out")
    processed = StreamsBuilder()
    processed.stream("in", key=serdes.string, value=serdes.long).process(Processor).to("out")
    lines = [
        f"a count: {_measured(run, counted)}",
        f"a count under a new key: {_measured(run, staged)}",
        f"a processor in Python: {_measured(run, processed, 40)}",
    ]
    with capsys.disabled():
        print("\n" + "\n".join(lines))
