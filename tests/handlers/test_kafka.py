"""Handlers against a real broker: dead letters belong to the transaction of the batch, and are counted."""

from __future__ import annotations

import logging
import time

import pytest
from pyspark.sql import functions as F

from runtime.topologies import echo
from tidemill import StreamsBuilder, serdes
from tidemill.errors import TidemillError
from tidemill.runtime import State

ALL = {f"{kind}_exception_handler": "dead_letter" for kind in ("deserialization", "processing", "production")}
PREFIX = "__streams.errors."
NOW = int(time.time()) * 1000


def reasons(read) -> dict[str, str]:
    return {
        name.removeprefix(PREFIX): value.decode() for name, value in read.headers if name.startswith(PREFIX)
    }


def routed(source: str, target: str) -> StreamsBuilder:
    """Numbers, each to the topic its record names; 100 divided by them."""
    builder = StreamsBuilder()
    stream = builder.stream(source, key=serdes.string, value=serdes.json("n int, pad int, to string"))
    made = stream.map_values(
        lambda v: F.struct(
            F.concat((F.lit(100) / v.n).cast("string"), F.repeat(F.lit("x"), v.pad)).alias("text"),
            F.coalesce(v.to, F.lit(target)).alias("to"),
        ),
        name="divide",
    )
    made.to(lambda key, v: v.to, value=serdes.json("text string, to string"))
    return builder


@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
def test_bad_records_are_set_aside_and_good_ones_written(make_app, broker, topic, caplog, guarantee):
    source, target = topic("in"), topic("out", config={"max.message.bytes": "3000"})
    values = [
        b'{"n":1,"pad":0}',
        b'{"n":0,"pad":0}',
        b"not json",
        b'{"n":2,"pad":9000}',
        b'{"n":4,"pad":0,"to":"nowhere-at-all"}',
        b'{"n":5,"pad":0}',
    ]
    record = {"key": b"k", "timestamp": NOW, "headers": [("trace", b"1")]}
    broker.produce(source, [{**record, "value": value} for value in values])
    app = make_app(
        routed(source, target),
        **ALL,
        processing_guarantee=guarantee,
        config={"producer.compression.type": "none", "producer.max.block.ms": "2000"},
    )
    with caplog.at_level(logging.WARNING, "tidemill"):
        app.run(until="now")
    written = [read.value.split(b'"')[3] for read in broker.read(target)]
    assert written == [b"100.0", b"20.0"]
    letters = broker.read(f"{app.application_id}-dlq")
    assert [(read.key, read.timestamp, read.headers[0]) for read in letters] == [
        (b"k", NOW, ("trace", b"1"))
    ] * 4
    found = {
        reasons(read)["kind"] + " " + reasons(read)["exception"].rpartition(".")[2]: read for read in letters
    }
    assert set(found) == {
        "processing SparkArithmeticException",
        "deserialization DeserializationError",
        "production RecordTooLargeException",
        "production UnknownTopicOrPartitionException",
    } or set(found) == {
        "processing SparkArithmeticException",
        "deserialization DeserializationError",
        "production RecordTooLargeException",
        "production TimeoutException",
    }
    assert found["processing SparkArithmeticException"].value == values[1]
    assert found["deserialization DeserializationError"].value == values[2]
    large = found["production RecordTooLargeException"]
    assert reasons(large)["topic"] == target
    assert large.value.startswith(b'{"text":"50.0xxx')
    assert {reasons(read)["application.id"] for read in letters} == {app.application_id}
    figures = app.metrics()
    assert figures["dead_letters"] == {"deserialization": 1, "processing": 1, "production": 2}
    assert figures["skipped"] == {"deserialization": 0, "processing": 0, "production": 0}
    divide = {"kind": "processing", "outcome": "dead_letter", "node": "divide"}
    error = "org.apache.spark.SparkArithmeticException"
    assert {**divide, "error": error, "count": 1} in figures["errors"]
    assert "processing failed at `divide`, set aside as dead letters" in caplog.text


def test_records_left_out_are_counted(make_app, broker, topic):
    source, target = topic("in", partitions=2), topic("out")
    builder = StreamsBuilder()
    numbers = builder.stream(source, key=serdes.string, value=serdes.int)
    numbers.filter(lambda n: F.lit(10) / n > 2).group_by_key().count().to_stream().to(target)
    good, zero = serdes.int.encode(3), serdes.int.encode(0)
    broker.produce(source, [{"key": "a", "value": value} for value in (good, zero, b"xyz", good, zero)])
    leave_out = dict.fromkeys(ALL, "continue")
    app = make_app(builder, **leave_out)
    app.run(until="now")
    assert [serdes.long.decode(read.value) for read in broker.read(target)] == [2]
    assert app.metrics()["skipped"] == {"deserialization": 1, "processing": 2, "production": 0}
    assert not broker.admin.exists(f"{app.application_id}-dlq")


def test_failed_batch_writes_no_letters(make_app, broker, topic, spark):
    """Letters are part of the transaction: a batch that is replayed does not double them."""
    source, target = topic("in"), topic("out")
    builder = StreamsBuilder()
    builder.stream(source, key=serdes.string, value=serdes.int).to(target)
    broker.produce(source, [{"value": value} for value in (serdes.int.encode(1), b"broken")])
    app = make_app(builder, deserialization_exception_handler="dead_letter", restart_limit=1)
    failpoint = spark._jvm.io.tidemill.sink.Failpoint
    failpoint.reset()  # another test of this run may have passed the same point
    spark._jvm.System.setProperty("tidemill.failpoint", "after_produce_before_txn_commit:1:raise")
    try:
        app.run(until="now")
    finally:
        spark._jvm.System.clearProperty("tidemill.failpoint")
        failpoint.reset()
    letters = f"{app.application_id}-dlq"
    assert [read.value for read in broker.read(letters)] == [b"broken"]
    assert len(broker.read(target)) == 1
    assert app.metrics()["restarts"] == 1


def test_broken_record_stops_the_app(make_app, broker, topic):
    source, target = topic("in"), topic("out")
    builder = StreamsBuilder()
    builder.stream(source, key=serdes.string, value=serdes.long).to(target)
    broker.produce(source, [{"value": b"12345678"}, {"value": b"1234567"}])
    app = make_app(builder)
    with pytest.raises(TidemillError) as raised:
        app.run(until="now")
    assert app.state is State.ERROR
    assert app.metrics()["restarts"] == 0
    assert raised.value.code == "DESERIALIZATION"
    assert f"{source}, partition 0, offset 1: the value is not what the serde `long` reads" in str(
        raised.value
    )
    assert broker.read(target) == []


def test_letter_too_large_for_its_topic_loses_its_value(make_app, broker, topic):
    source, target, letters = (
        topic("in"),
        topic("out"),
        topic("letters", config={"max.message.bytes": "5000"}),
    )
    broker.admin.alter_config(target, {"max.message.bytes": "2000"})
    broker.produce(source, [{"key": b"k", "value": bytes(8000)}, {"key": b"k", "value": b"small"}])
    app = make_app(
        echo(source, target),
        production_exception_handler="dead_letter",
        config={
            "errors.dead.letter.queue.topic.name": letters,
            "producer.compression.type": "none",
        },
    )
    app.run(until="now")
    assert [read.value for read in broker.read(target)] == [b"small"]
    (letter,) = broker.read(letters)
    assert (letter.key, letter.value, reasons(letter)["value.left.out"]) == (b"k", None, "8000")
