"""Topologies the tests run, and what they must put out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pyspark.sql import functions as F

from tidemill import StreamsBuilder, serdes


def word_count(source: str, target: str) -> StreamsBuilder:
    builder = StreamsBuilder()
    (
        builder.stream(source, key=serdes.string, value=serdes.string)
        .flat_map_values(lambda value: F.split(value, " "))
        .group_by(lambda key, value: value, name="by-word")
        .count(store="counts")
        .to_stream()
        .to(target, key=serdes.string, value=serdes.long)
    )
    return builder


def echo(source: str, target: str) -> StreamsBuilder:
    builder = StreamsBuilder()
    builder.stream(source, key=serdes.bytes, value=serdes.bytes).to(target)
    return builder


def echo_and_count(source: str, copy: str, counts: str, *, logging: bool = False) -> StreamsBuilder:
    """Every record as it is, and how many of its key there have been."""
    builder = StreamsBuilder()
    stream = builder.stream(source, key=serdes.string, value=serdes.string)
    stream.to(copy)
    counted = stream.group_by_key().count(store="per-key", logging=logging)
    counted.to_stream().to(counts, key=serdes.string, value=serdes.long)
    return builder


def long_of(data: bytes | None) -> int:
    assert data is not None
    return int.from_bytes(data, "big", signed=True)


def words_counted(lines: Iterable[str]) -> dict[str, int]:
    return dict(Counter(word for line in lines for word in line.split(" ")))
