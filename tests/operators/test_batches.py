"""Whole batches over several partitions and tasks: results as if every record had come alone."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from operators.batches import Record, final, run_batches
from tidemill import StreamsBuilder, serdes, windows

KEYS = [f"k{n}" for n in range(50)]


def _records(count: int, seed: int, topic: str = "numbers", step: int = 7) -> list[Record]:
    chance = random.Random(seed)
    records = []
    for n in range(count):
        key = chance.choice(KEYS)
        value = serdes.long.encode(chance.randrange(100))
        records.append(Record(topic, key.encode(), value, n * step, KEYS.index(key) % 4))
    return records


def _split(records: list[Record], batches: int) -> list[list[Record]]:
    size = len(records) // batches
    return [records[n * size : (n + 1) * size] for n in range(batches)]


def _long(data: bytes | None) -> int:
    assert data is not None
    return int(serdes.long.decode(data))


@pytest.mark.parametrize("caching", [True, False])
def test_sum_per_key_over_partitions_and_batches(spark: SparkSession, tmp_path: Path, caching: bool) -> None:
    builder = StreamsBuilder()
    numbers = builder.stream("numbers", key=serdes.string, value=serdes.long)
    numbers.group_by_key().aggregate(lambda value: F.sum(value), store="sums").to_stream().to("out")
    records = _records(1200, seed=1)
    results = run_batches(spark, builder.build(), _split(records, 3), tmp_path, caching=caching)

    expected: dict[bytes | None, int] = {}
    for record in records:
        expected[record.key] = expected.get(record.key, 0) + _long(record.value)
    assert {key: _long(value) for key, value in final(results).items()} == expected
    updates = sum(map(len, results))
    per_batch = sum(len({record.key for record in batch}) for batch in _split(records, 3))
    assert updates == (per_batch if caching else len(records))


def test_regrouped_by_another_key_shuffles_once(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    numbers = builder.stream("numbers", key=serdes.string, value=serdes.long)
    by_digit = numbers.group_by(lambda key, value: (value % 10).cast("string"), key=serdes.string)
    by_digit.count(store="digits").to_stream().to("out")
    records = _records(900, seed=2)
    results = run_batches(spark, builder.build(), _split(records, 2), tmp_path)

    expected: dict[str, int] = {}
    for record in records:
        digit = str(_long(record.value) % 10)
        expected[digit] = expected.get(digit, 0) + 1
    assert {key.decode(): _long(value) for key, value in final(results).items() if key} == expected


def test_stream_and_table_of_one_batch_meet_in_time_order(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    prices = builder.table("prices", key=serdes.string, value=serdes.long)
    orders = builder.stream("orders", key=serdes.string, value=serdes.long)
    orders.join(prices, lambda order, price: order * price).to("out")
    price = [Record("prices", b"k0", serdes.long.encode(n), 100 * n) for n in (1, 2, 3)]
    order = [Record("orders", b"k0", serdes.long.encode(10), 100 * n + 50) for n in (0, 1, 2, 3)]
    results = run_batches(spark, builder.build(), [[*order, *price]], tmp_path)
    assert [(_long(r.value), r.timestamp) for r in results[0]] == [(10, 150), (20, 250), (30, 350)]


def test_global_table_is_known_to_every_task(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    names = builder.global_table("names", key=serdes.string, value=serdes.string)
    numbers = builder.stream("numbers", key=serdes.string, value=serdes.long)
    numbers.join(names, lambda number, name: name, key=lambda key, value: key).to("out")
    known = [Record("names", key.encode(), f"name of {key}".encode(), 0) for key in KEYS]
    records = _records(200, seed=3, step=1)
    results = run_batches(spark, builder.build(), [known, records], tmp_path, tasks=4)
    got = sorted((r.key, r.value) for r in results[1])
    assert got == sorted((r.key, b"name of " + (r.key or b"")) for r in records)


def test_windows_close_by_the_time_of_their_own_partition(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    numbers = builder.stream("numbers", key=serdes.string, value=serdes.long)
    windowed = numbers.group_by_key().windowed_by(windows.tumbling(10))
    windowed.count(store="windows").to_stream().to("out", key=serdes.time_windowed(serdes.string, 10))
    one = serdes.long.encode(1)
    ahead = [Record("numbers", b"a", one, 1000, partition=0)]
    behind = [Record("numbers", b"b", one, 5, partition=1)]
    results = run_batches(spark, builder.build(), [ahead, behind], tmp_path, tasks=2)
    # Partition 0 is far ahead; that does not make records of partition 1 late.
    assert [_long(record.value) for record in results[1]] == [1]


def test_state_carries_over_from_batch_to_batch(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    numbers = builder.stream("numbers", key=serdes.string, value=serdes.long)
    numbers.group_by_key().windowed_by(windows.sliding(50, grace=10)).count(store="recent").to_stream().to(
        "out", key=serdes.time_windowed(serdes.string, 50)
    )
    records = _records(600, seed=4)
    whole = run_batches(spark, builder.build(), _split(records, 6), _folder(tmp_path, "whole"))
    one = run_batches(spark, builder.build(), [records], _folder(tmp_path, "one"))
    assert final(whole) == final(one)


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


def test_join_needs_no_topics_partitioned_alike(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    prices = builder.table("prices", key=serdes.string, value=serdes.long)
    orders = builder.stream("orders", key=serdes.string, value=serdes.long)
    orders.join(prices, lambda order, price: order * price).to("out")
    price = [Record("prices", key.encode(), serdes.long.encode(2), 1, n % 3) for n, key in enumerate(KEYS)]
    order = [Record("orders", key.encode(), serdes.long.encode(n), 5, n % 7) for n, key in enumerate(KEYS)]
    results = run_batches(spark, builder.build(), [price, order], tmp_path, tasks=4)
    expected = {key.encode(): 2 * n for n, key in enumerate(KEYS)}
    assert {record.key: _long(record.value) for record in results[1]} == expected


def test_sessions_of_earlier_batches_merge_with_sets_in_them(spark: SparkSession, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    (
        builder.stream("in", key=serdes.string, value=serdes.string)
        .group_by_key()
        .windowed_by(windows.session("10 ms", grace="1 second"))
        .aggregate(lambda page: F.size(F.collect_set(page)).cast("bigint"), store="visits")
        .to_stream(lambda key, value: key.key)
        .to("out", key=serdes.string, value=serdes.long)
    )
    batches = [
        [Record("in", b"a", b"x", 0), Record("in", b"a", b"y", 15)],
        [Record("in", b"b", b"x", 16)],
        [Record("in", b"a", b"x", 8)],
    ]
    results = run_batches(spark, builder.build(), batches, tmp_path)
    found = [[(r.key, None if r.value is None else serdes.long.decode(r.value)) for r in b] for b in results]
    assert found[0] == [(b"a", 1), (b"a", 1)]
    assert found[1] == [(b"b", 1)]
    assert sorted(found[2], key=str) == [(b"a", 2), (b"a", None), (b"a", None)]
