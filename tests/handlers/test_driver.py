"""Handlers on every road through the engine: what fails alone, what the others become, what is told."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pyspark.sql import functions as F

from tidemill import StreamsBuilder, TopologyError, python_fn, serdes
from tidemill.errors import TidemillError, UsageError
from tidemill.testing import TopologyTestDriver

LETTERS = {
    "application.id": "shop",
    "deserialization.exception.handler": "dead_letter",
    "processing.exception.handler": "dead_letter",
    "production.exception.handler": "dead_letter",
}
PREFIX = "__streams.errors."


class Bench:
    """A driver of topic `in` to topic `out`, in bytes."""

    def __init__(self, builder: StreamsBuilder, spark, config: Mapping[str, str]) -> None:
        self.driver = TopologyTestDriver(builder, config=config, spark=spark)
        self._in = self.driver.create_input_topic("in", key=serdes.bytes, value=serdes.bytes)
        self._out = self.driver.create_output_topic("out", key=serdes.bytes, value=serdes.bytes)
        self._letters = self.driver.create_output_topic("shop-dlq", key=serdes.bytes, value=serdes.bytes)

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.close()

    def pipe(self, key: bytes | None, value: bytes | None) -> None:
        self._in.pipe_input(key, value, timestamp=7, headers=[("trace", b"t1")])

    def out(self) -> list[bytes | None]:
        return [record.value for record in self._out.read_records()]

    def letters(self):
        return self._letters.read_records()


def reason(letter) -> dict[str, str]:
    headers = {name: value.decode() for name, value in letter.headers if name.startswith(PREFIX)}
    return {name.removeprefix(PREFIX): value for name, value in headers.items()}


def quotients() -> StreamsBuilder:
    """Two outputs per record, the second of which may fail; no state."""
    builder = StreamsBuilder()
    numbers = builder.stream("in", key=serdes.string, value=serdes.json("n int"))
    numbers.map_values(lambda v: F.concat(F.lit("seen "), v.n), name="seen").to("out", value=serdes.string)
    divided = numbers.map_values(lambda v: F.lit(10) / v.n, name="divide")
    divided.map_values(lambda v: v.cast("string")).to("out", value=serdes.string)
    return builder


def counted() -> StreamsBuilder:
    """A shuffle, a table, and a step behind it that fails at the third of a kind."""
    builder = StreamsBuilder()
    numbers = builder.stream("in", key=serdes.string, value=serdes.json("n int"))
    counts = numbers.group_by(lambda key, v: v.n, name="by-n").count(store="counts")
    few = counts.map_values(
        lambda n: F.when(n > 2, F.raise_error(F.lit("too many"))).otherwise(n.cast("string")), name="few"
    )
    few.to_stream().to("out", key=serdes.int, value=serdes.string)
    return builder


def test_records_fail_alone_without_state(spark):
    with Bench(quotients(), spark, LETTERS) as bench:
        for value in (b'{"n":2}', b'{"n":0}', b'{"n":', b'{"n":5}'):
            bench.pipe(b"k", value)
        # What the failed record had sent out before it failed is gone with it.
        assert bench.out() == [b"seen 2", b"5.0", b"seen 5", b"2.0"]
        divided, broken = bench.letters()
    assert (divided.key, divided.value, divided.timestamp) == (b"k", b'{"n":0}', 7)
    assert divided.headers[0] == ("trace", b"t1")
    told = reason(divided)
    assert "DIVIDE_BY_ZERO" in told.pop("message")
    assert "Arithmetic" in told.pop("stacktrace")
    assert told == {
        "kind": "processing",
        "application.id": "shop",
        "node": "divide",
        "exception": "org.apache.spark.SparkArithmeticException",
        "topic": "in",
        "partition": "0",
        "offset": "1",
        "timestamp": "7",
    }
    assert (broken.key, broken.value, broken.timestamp) == (b"k", b'{"n":', 7)
    assert reason(broken) == {
        "kind": "deserialization",
        "application.id": "shop",
        "node": "stream-of-in",
        "exception": "tidemill.DeserializationError",
        "message": 'the value is not what the serde `json` reads: 5 bytes, `{"n":`',
        "topic": "in",
        "partition": "0",
        "offset": "2",
        "timestamp": "7",
    }


def test_records_fail_alone_behind_a_shuffle(spark):
    with Bench(counted(), spark, LETTERS) as bench:
        for value in (b'{"n":1}', b'{"n":1}', b'{"n":1}', b"\xff\x00", b'{"n":2}'):
            bench.pipe(b"k", value)
        assert bench.out() == [b"1", b"2", b"1"]
        late, broken = bench.letters()
        # The state has counted the record that failed behind it.
        assert dict(bench.driver.get_key_value_store("counts").all()) == {1: 3, 2: 1}
    assert (late.key, late.value, reason(late)["offset"]) == (b"k", b'{"n":1}', "2")
    assert reason(late)["node"] == "few"
    assert reason(late)["message"].startswith("[USER_RAISED_EXCEPTION] too many")
    assert (broken.value, reason(broken)["offset"]) == (b"\xff\x00", "3")
    assert reason(broken)["message"].endswith(r"2 bytes, `\xff\x00`")


def test_records_fail_alone_in_python(spark):
    builder = StreamsBuilder()
    numbers = builder.stream("in", key=serdes.string, value=serdes.int)
    halves = numbers.map_values(python_fn(lambda n: 10 // n, returns="int"), name="halve")
    total = halves.group_by_key().reduce(python_fn(lambda a, b: a + b, returns="int"), store="sums")
    total.to_stream().to("out", value=serdes.int)
    config = {**LETTERS, "deserialization.exception.handler": "continue"}
    with Bench(builder, spark, config) as bench:
        for value in (serdes.int.encode(5), serdes.int.encode(0), b"short", serdes.int.encode(2)):
            bench.pipe(b"k", value)
        assert [serdes.int.decode(value) for value in bench.out()] == [2, 7]
        (letter,) = bench.letters()
        skipped = [dict(headers) for headers in bench.driver._run.handled]
    assert (letter.key, letter.value, letter.timestamp) == (b"k", b"\0\0\0\0", 7)
    assert reason(letter)["exception"] == "ZeroDivisionError"
    assert "10 // n" in reason(letter)["stacktrace"]
    assert [told[PREFIX + "offset"] for told in skipped] == [b"1", b"2"]


def test_what_has_no_bytes_is_set_aside(spark):
    builder = StreamsBuilder()
    texts = builder.stream("in", key=serdes.string, value=serdes.string)
    texts.to("out", key=serdes.string, value=serdes.uuid)
    good = b"0b8d2b6e-0d5c-4f0c-8f57-0d6a5d5d2f11"
    with Bench(builder, spark, LETTERS) as bench:
        for value in (good, b"no uuid", None):
            bench.pipe(b"k", value)
        assert bench.out() == [good, None]
        (letter,) = bench.letters()
    assert (letter.value, letter.timestamp, letter.headers[0]) == (b"no uuid", 7, ("trace", b"t1"))
    assert (reason(letter)["kind"], reason(letter)["node"]) == ("production", "to-out")
    assert reason(letter)["offset"] == "1"


@pytest.mark.parametrize("make", [quotients, counted])
def test_broken_bytes_fail_the_query_by_default(spark, make):
    with Bench(make(), spark, {}) as bench:
        bench.pipe(b"k", None)
        with pytest.raises(TidemillError) as raised:
            bench.pipe(b"k\xff", b'{"n":1}')
    error = raised.value
    assert error.code == "DESERIALIZATION"
    assert error.what.startswith("`stream-of-in` cannot read the record at in, partition 0, offset 1: ")
    assert error.what.endswith(r"the key is not what the serde `string` reads: 2 bytes, `k\xff`")
    assert "test_driver.py:" in error.where
    assert "deserialization.exception.handler" in error.remedy


@pytest.mark.parametrize(("make", "node", "offset"), [(quotients, "divide", 1), (counted, "few", 2)])
def test_failed_function_is_named_with_its_record(spark, make, node, offset):
    *good, bad = {"divide": (b'{"n":1}', b'{"n":0}'), "few": (b'{"n":1}',) * 3}[node]
    with Bench(make(), spark, {}) as bench:
        for value in good:
            bench.pipe(b"k", value)
        with pytest.raises(TidemillError) as raised:
            bench.pipe(b"k", bad)
    error = raised.value
    assert error.code == "PROCESSING"
    assert f"`{node}` failed for the record at in, partition 0, offset {offset}: " in error.what
    assert "test_driver.py:" in error.where
    assert "processing.exception.handler" in error.remedy


def test_global_table_with_broken_bytes(spark):
    builder = StreamsBuilder()
    names = builder.global_table("names", key=serdes.string, value=serdes.long)
    stream = builder.stream("in", key=serdes.string, value=serdes.string)
    joined = stream.join(names, lambda value, name: name.cast("string"), key=lambda key, value: key)
    joined.to("out")
    with TopologyTestDriver(builder, config=LETTERS, spark=spark) as driver:
        table = driver.create_input_topic("names", key=serdes.string, value=serdes.bytes)
        table.pipe_input("k", serdes.long.encode(5))
        table.pipe_input("k", b"five")
        driver.create_input_topic("in", key=serdes.string, value=serdes.string).pipe_input("k", "x")
        out = driver.create_output_topic("out", key=serdes.string, value=serdes.string)
        assert [record.value for record in out.read_records()] == ["5"]
        letters = driver.create_output_topic("shop-dlq", key=serdes.string, value=serdes.bytes)
        assert [letter.value for letter in letters.read_records()] == [b"five"]


def test_udf_cannot_fail_alone(spark):
    @F.udf("int")
    def half(n: int) -> int:
        return n // 2

    builder = StreamsBuilder()
    builder.stream("in", key=serdes.string, value=serdes.int).map_values(half).to("out")
    with pytest.raises(TopologyError, match="calls a Python UDF") as raised:
        TopologyTestDriver(builder, config=LETTERS, spark=spark)
    assert "processing.exception.handler" in str(raised.value)


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"processing.exception.handler": "my.Handler"}, "not called"),
        ({"errors.dead.letter.queue.topic.name": "d"}, "no handler writes dead letters"),
    ],
)
def test_handlers_that_make_no_sense_are_refused(spark, config, text):
    with pytest.raises(UsageError) as raised:
        TopologyTestDriver(quotients(), config=config, spark=spark)
    assert text in str(raised.value)
