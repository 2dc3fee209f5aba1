"""Real-time mode: records go through one by one, at least once, over the real broker."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

from runtime.broker import until
from runtime.topologies import echo, long_of, word_count
from tidemill import StreamsBuilder, serdes
from tidemill.dsl.processor import Processor
from tidemill.errors import TidemillError, UsageError

NOON = 1_700_000_000_000
REALTIME = {"latency": "realtime", "tasks": 1}


def test_record_is_kept_whole(make_app, broker, topic):
    source, target = topic("in"), topic("out")
    sent = [
        {"key": b"k", "value": b"v", "timestamp": NOON, "headers": [("trace", b"\x01\x00"), ("empty", None)]},
        {"key": None, "value": b"no key", "timestamp": NOON + 1},
        {"key": b"gone", "value": None, "timestamp": NOON + 2},
    ]
    with make_app(echo(source, target), **REALTIME) as app:
        broker.produce(source, sent)
        until(lambda: len(broker.read(target)) == 3, seconds=90)
        assert app.metadata()["processing_guarantee"] == "at_least_once"
    found = [(read.key, read.value, read.timestamp, list(read.headers)) for read in broker.read(target)]
    assert found == [
        (record["key"], record["value"], record["timestamp"], record.get("headers", [])) for record in sent
    ]
    # A stop ends the batch, long before its time, so nothing is done again.
    assert broker.group(app.application_id) == {(source, 0): 3}
    assert app.metrics()["records_out"] == 3


def test_count_goes_on_where_it_was(make_app, broker, topic):
    """Paused, stopped and started again: each word is counted once."""
    lines, counts = topic("lines"), topic("counts")

    def say_and_wait(total: int) -> None:
        broker.produce(lines, [{"value": "a b a", "timestamp": NOON, "headers": [("by", b"x")]}])
        until(lambda: len(broker.read(counts)) == total, seconds=90)

    app = make_app(word_count(lines, counts), **REALTIME)
    with app:
        say_and_wait(3)
        app.pause()
        broker.produce(lines, [{"value": "a"}])
        assert not app.wait(0.5)
        assert len(broker.read(counts)) == 3
        app.resume()
        until(lambda: len(broker.read(counts)) == 4)
    with make_app(word_count(lines, counts), application_id=app.application_id, **REALTIME):
        say_and_wait(7)
    found = [(read.key, long_of(read.value)) for read in broker.read(counts)]
    assert [count for word, count in found if word == b"a"] == [1, 2, 3, 4, 5]
    assert [count for word, count in found if word == b"b"] == [1, 2]
    assert broker.read(counts)[0].timestamp == NOON
    assert broker.read(counts)[0].headers == (("by", b"x"),)


@pytest.mark.parametrize(
    ("partitions", "tasks", "shuffles"),
    [
        pytest.param(2, 2, 0, id="a task reads one partition"),
        pytest.param(2, 1, 1, id="a task would have to choose between two"),
    ],
)
def test_partition_is_a_task_as_it_is(make_app, broker, topic, partitions, tasks, shuffles):
    """Without a shuffle where no task reads two partitions: it is a hop that every record would pay for."""
    source, counts = topic("in", partitions=partitions), topic("counts")
    builder = StreamsBuilder()
    counted = builder.stream(source, key=serdes.string, value=serdes.string).group_by_key().count(store="n")
    counted.to_stream().to(counts, key=serdes.string, value=serdes.long)
    with make_app(builder, latency="realtime", tasks=tasks) as app:
        for n in range(6):
            broker.produce(source, [{"key": f"k{n % 3}", "value": "x", "partition": n % 3 % partitions}])
        until(lambda: len(broker.read(counts)) == 6, seconds=90)
        plan = app._watcher._query.executed_plan()
    assert plan.count("TransformWithState") == 1, plan
    assert plan.count("Exchange") == shuffles, plan
    found = [(read.key.decode(), long_of(read.value)) for read in broker.read(counts)]
    assert sorted(found) == [("k0", 1), ("k0", 2), ("k1", 1), ("k1", 2), ("k2", 1), ("k2", 2)]
    assert broker.group(app.application_id) == {(source, 0): 4, (source, 1): 2}


class Shout(Processor):
    """Python, which real-time mode has no place for."""

    def process(self, record):
        self.context.forward(record)


def test_python_is_refused_by_name(make_app, topic):
    builder = StreamsBuilder()
    stream = builder.stream(topic("in"), key=serdes.string, value=serdes.string)
    stream.process(Shout, name="shout").to(topic("out"), key=serdes.string, value=serdes.string)
    with pytest.raises(TidemillError, match="`shout` calls Python, which Spark's real-time mode cannot run"):
        make_app(builder, **REALTIME).start()


def test_python_function_in_a_column_is_refused_by_name(make_app, topic):
    @F.udf("string")
    def shouted(value):
        return value.upper()

    builder = StreamsBuilder()
    stream = builder.stream(topic("in"), key=serdes.string, value=serdes.string)
    stream.map_values(lambda value: shouted(value)).to(topic("out"))
    with pytest.raises(UsageError, match="the Python function `shouted` is called for each record"):
        make_app(builder, **REALTIME).start()


def test_spark_with_too_few_slots_is_refused(make_app, topic):
    """Tasks would wait for each other for ever: all of them run at once."""
    lines, counts = topic("lines", partitions=4), topic("counts")
    with pytest.raises(UsageError, match="real-time mode runs 12 tasks at once, this Spark has 8 slots"):
        make_app(word_count(lines, counts), latency="realtime", tasks=4).start()


def test_end_is_refused(make_app, topic):
    with pytest.raises(UsageError, match="real-time mode has no end"):
        make_app(echo(topic("in"), topic("out")), **REALTIME).run(until="now")


def test_state_of_batches_is_refused(make_app, broker, topic):
    """Spark numbers the files of state differently in the two modes."""
    lines, counts = topic("lines"), topic("counts")
    broker.produce(lines, [{"value": "a"}])
    app = make_app(word_count(lines, counts), processing_guarantee="at_least_once", tasks=1)
    app.run(until="now")
    again = make_app(word_count(lines, counts), application_id=app.application_id, **REALTIME)
    with pytest.raises(TidemillError, match="was written in the other mode"):
        again.run()
