"""Where an app begins to read, which partition its records go to, and what time it is after a restart."""

from __future__ import annotations

from pyspark.sql import functions as F

from tidemill import StreamsBuilder, serdes, windows


def test_beginnings_partitions_and_stream_time(make_app, broker, topic):
    fresh, skipped = topic("fresh", partitions=3), topic("skipped")
    chosen, counts, new = topic("chosen", partitions=3), topic("counts", partitions=3), topic("new")
    builder = StreamsBuilder()
    texts = builder.stream(fresh, key=serdes.string, value=serdes.string)
    texts.to(chosen, partitioner=lambda key, value, partitions: F.length(value) % partitions)
    by_second = texts.group_by_key().windowed_by(windows.tumbling(1000))
    by_second.count(store="counts").to_stream().to(counts)
    builder.stream(skipped, key=serdes.string, value=serdes.string, offset_reset="latest").to(new)

    def produce(name: str, times: list[int], value: bytes) -> None:
        keys = [f"key-{n}".encode() for n in range(12)]
        broker.produce(name, ({"key": k, "value": value, "timestamp": t} for t in times for k in keys))

    produce(fresh, [500, 1500], b"four")
    produce(skipped, [1], b"before the app")
    app = make_app(builder, tasks=1)
    app.run(until="now")
    # The second start knows how late it was: the window of 700 was closed by 1500.
    produce(fresh, [700, 1600], b"fives")
    produce(skipped, [2], b"after its start")
    make_app(builder, application_id=app.application_id, tasks=1).run(until="now")

    home = {read.key: read.partition for read in broker.read(fresh)}
    results = broker.read(counts)
    windowed = serdes.time_windowed(serdes.string, 1000)
    decoded = [(windowed.decode(r.key), serdes.long.decode(r.value), r.partition) for r in results]
    assert sorted((key.key, key.start, count) for key, count, _ in decoded) == sorted(
        (f"key-{n}", start, count) for n in range(12) for start, count in ((0, 1), (1000, 1), (1000, 2))
    )
    # Every window of a key lies where the key itself does.
    assert all(partition == home[key.key.encode()] for key, _, partition in decoded)
    assert {(read.value, read.partition) for read in broker.read(chosen)} == {(b"four", 1), (b"fives", 2)}
    assert {read.value for read in broker.read(new)} == {b"after its start"}
