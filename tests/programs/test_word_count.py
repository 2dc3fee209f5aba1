"""Word count: lines in, the number of times each word was seen out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from tidemill import StreamsBuilder, Topology, serdes

if TYPE_CHECKING:
    from programs.conftest import Run


def word_count() -> StreamsBuilder:
    builder = StreamsBuilder()
    (
        builder.stream("lines", key=serdes.string, value=serdes.string)
        .flat_map_values(lambda value: F.split(F.lower(value), r"\W+"))
        .filter(lambda value: value != "")
        .group_by(lambda key, value: value, key=serdes.string, name="by-word")
        .count(store="counts")
        .to_stream()
        .to("word-counts", key=serdes.string, value=serdes.long)
    )
    return builder


def test_words_are_counted_over_all_lines(run: Run) -> None:
    driver = run(word_count())
    lines = driver.create_input_topic("lines", key=serdes.string, value=serdes.string)
    counts = driver.create_output_topic("word-counts", key=serdes.string, value=serdes.long)
    lines.pipe_input(None, "The tide turns the mill.", timestamp=10)
    first = {record.key: record.value for record in counts.read_records()}
    assert first == {"the": 2, "tide": 1, "turns": 1, "mill": 1}
    lines.pipe_input("x", "the mill, the MILL", timestamp=5)
    second = counts.read_records()
    assert {record.key: record.value for record in second} == {"the": 4, "mill": 3}
    assert {record.timestamp for record in second} == {10}
    lines.pipe_input(None, "", timestamp=20)
    assert counts.read_records() == []


def test_no_python_runs(tiers: Callable[[Topology], set[str]]) -> None:
    assert "python" not in tiers(word_count().build())
