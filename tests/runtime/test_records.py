"""What apps read and write: exact results, and the parts of a record besides its value."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from runtime.topologies import echo, long_of, word_count, words_counted
from tidemill import StreamsBuilder, serdes

NOON = 1_700_000_000_000


def test_word_count_is_exact(make_app, broker, topic):
    lines, counts = topic("lines", partitions=2), topic("counts", partitions=2)
    said = [f"the mill turns {word}" for word in ("slowly", "fast", "the", "mill") for _ in range(50)]
    broker.produce(lines, ({"value": line, "key": str(i)} for i, line in enumerate(said)))
    make_app(word_count(lines, counts), max_offsets_per_trigger=60).run(until="now")
    found: dict[str, int] = {}
    for record in broker.read(counts):
        word, count = record.key.decode(), long_of(record.value)
        assert count > found.get(word, 0), "a count never falls"
        found[word] = count
    assert found == words_counted(said)


@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
def test_record_is_kept_whole(make_app, broker, topic, guarantee):
    source, target = topic("in"), topic("out")
    sent = [
        {"key": b"k", "value": b"v", "timestamp": NOON, "headers": [("trace", b"\x01\x00"), ("empty", None)]},
        {"key": None, "value": b"no key", "timestamp": NOON + 1},
        {"key": b"gone", "value": None, "timestamp": NOON + 2, "headers": [("a", b"1"), ("a", b"2")]},
    ]
    broker.produce(source, sent)
    make_app(echo(source, target), processing_guarantee=guarantee).run(until="now")
    found = broker.read(target)
    assert [(read.key, read.value, read.timestamp) for read in found] == [
        (record["key"], record["value"], record["timestamp"]) for record in sent
    ]
    assert [read.headers for read in found] == [tuple(record.get("headers", ())) for record in sent]


def test_each_row_goes_to_the_topic_it_names(make_app, broker, topic):
    source, small, large = topic("in"), topic("small"), topic("large")
    builder = StreamsBuilder()
    builder.stream(source, key=serdes.string, value=serdes.long).to(
        lambda key, value: F.when(value < 10, small).otherwise(large)
    )
    broker.produce(source, ({"key": "k", "value": n.to_bytes(8, "big")} for n in range(20)))
    make_app(builder).run(until="now")
    assert [long_of(read.value) for read in broker.read(small)] == list(range(10))
    assert [long_of(read.value) for read in broker.read(large)] == list(range(10, 20))


def test_keys_lie_where_java_producers_put_them(make_app, broker, topic):
    source, target = topic("in", partitions=5), topic("out", partitions=5)
    keys = [f"key-{n}".encode() for n in range(100)]
    broker.produce(source, ({"key": key, "value": b""} for key in keys))
    make_app(echo(source, target)).run(until="now")
    # The broker's own records were placed by the client's implementation of Java's murmur2.
    assert {read.key: read.partition for read in broker.read(target)} == {
        read.key: read.partition for read in broker.read(source)
    }
    assert {read.key: read.partition for read in broker.read(target)}[b"key-0"] == _murmur2(b"key-0") % 5


def _murmur2(data: bytes) -> int:
    """Kafka's hash, written down from its definition."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = 0x9747B28C ^ len(data)
    for start in range(0, len(data) // 4 * 4, 4):
        k = int.from_bytes(data[start : start + 4], "little") * m & mask
        h = (h * m & mask) ^ ((k ^ k >> 24) * m & mask)
    if rest := data[len(data) // 4 * 4 :]:
        h = (h ^ int.from_bytes(rest, "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return (h ^ h >> 15) & 0x7FFFFFFF
