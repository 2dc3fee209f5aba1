"""More keys than a batch has records: most are looked for in vain, come, go and come again."""

from __future__ import annotations

import random

from pyspark.sql import functions as F

from runtime.topologies import long_of
from tidemill import StreamsBuilder, serdes

KEYS = 12_000
BATCH = 5_000
GONE = -1


def sums_that_can_end(source: str, target: str) -> StreamsBuilder:
    """The sum per key; a negative amount removes it."""
    builder = StreamsBuilder()
    (
        builder.stream(source, key=serdes.string, value=serdes.long)
        .group_by_key()
        .reduce(lambda total, amount: F.when(amount >= 0, total + amount), store="sums")
        .to_stream()
        .to(target, key=serdes.string, value=serdes.long)
    )
    return builder


def amounts(seed: int, count: int) -> list[tuple[str, int]]:
    chance = random.Random(seed)
    return [
        (f"k{chance.randrange(KEYS)}", GONE if chance.random() < 0.3 else chance.randrange(100))
        for _ in range(count)
    ]


def take(sums: dict[str, int], records: list[tuple[str, int]]) -> None:
    """What the app has to do."""
    for key, amount in records:
        if key not in sums:
            sums[key] = amount
        elif amount < 0:
            del sums[key]
        else:
            sums[key] += amount


def test_a_key_is_found_if_and_only_if_it_is_there(make_app, broker, topic):
    source, target = topic("in", partitions=2), topic("out")
    builder = sums_that_can_end(source, target)
    sums: dict[str, int] = {}
    app_id = None
    for seed in (1, 2):  # the second run begins with what the first has left
        records = amounts(seed, 60_000)
        take(sums, records)
        broker.produce(source, [{"key": k, "value": v.to_bytes(8, "big", signed=True)} for k, v in records])
        config = {"max.offsets.per.trigger": str(BATCH)}
        app = make_app(builder, config=config, **({"application_id": app_id} if app_id else {}))
        app_id = app.application_id
        app.run(until="now")
        assert app.metrics()["state_operators"][-1]["rows"] == len(sums)
    told: dict[str, int | None] = {}
    for read in broker.read(target):
        told[read.key.decode()] = None if read.value is None else long_of(read.value)
    assert {key: value for key, value in told.items() if value is not None} == sums
