"""Topics that meet: read where they are if keys are at home, brought together by key if not; in time."""

from __future__ import annotations

import doctest
import logging
import uuid

import pytest
from pyspark.sql import functions as F

from runtime.broker import until
from runtime.test_layout import NOON, executed_plan
from tidemill import StreamsBuilder, serdes
from tidemill.engine.failures import LayoutChangedError
from tidemill.errors import TidemillError, UsageError
from tidemill.kafka import partitioner
from tidemill.kafka.partitioner import partition_of
from tidemill.runtime.state import State

KEYS = [f"k{n}" for n in range(20)]


def joined(source, table, target):
    """A stream with the rows of a table."""
    builder = StreamsBuilder()
    rows = builder.table(table, key=serdes.string, value=serdes.string)
    (
        builder.stream(source, key=serdes.string, value=serdes.string)
        .join(rows, lambda value, row: F.concat_ws("-", value, row))
        .to(target, value=serdes.string)
    )
    return builder


def put(broker, topic, pairs, at=NOON):
    """Records a millisecond apart; a pair may name its partition."""
    broker.produce(
        topic,
        (
            {"key": key, "value": value, "timestamp": at + n, **({"partition": where[0]} if where else {})}
            for n, (key, value, *where) in enumerate(pairs)
        ),
    )


def values(broker, topic):
    return sorted(read.value.decode() for read in broker.read(topic))


@pytest.fixture
def topics(topic):
    return topic("in", partitions=2), topic("rows", partitions=2), topic("out")


def astray(key):
    """The partition of two that a key does not belong into."""
    return 1 - partition_of(key.encode(), 2)


def test_partitioner_is_that_of_kafkas_clients(broker, topic):
    assert doctest.testmod(partitioner).failed == 0
    name = topic("keys", partitions=7)
    keys = [f"{'ab' * (n % 9)}{n}" for n in range(200)]
    put(broker, name, [(key, "x") for key in keys])
    found = {read.key: read.partition for read in broker.read(name)}
    assert found == {key.encode(): partition_of(key.encode(), 7) for key in keys}


def test_keys_at_home_are_joined_where_they_are_read(make_app, broker, topics):
    source, table, target = topics
    put(broker, table, [(key, f"row-{key}") for key in KEYS], NOON - 1000)
    put(broker, source, [(key, key) for key in KEYS])
    app = make_app(joined(source, table, target))
    app.run(until="now")
    assert values(broker, target) == sorted(f"{key}-row-{key}" for key in KEYS)
    assert "Exchange" not in executed_plan(app)
    assert "Sort" not in executed_plan(app)


def test_stray_among_the_first_records_means_a_shuffle(make_app, broker, topics, caplog):
    source, table, target = topics
    put(broker, table, [(key, f"row-{key}", astray(key)) for key in KEYS], NOON - 1000)
    put(broker, source, [(key, key) for key in KEYS])
    app = make_app(joined(source, table, target))
    with caplog.at_level(logging.WARNING):
        app.run(until="now")
    assert f"topic `{table}` partition" in caplog.text
    assert "murmur2_random" in caplog.text
    assert values(broker, target) == sorted(f"{key}-row-{key}" for key in KEYS)
    assert "Exchange" in executed_plan(app)


def test_later_stray_makes_a_running_app_plan_anew_and_state_is_found(make_app, broker, topics):
    source, table, target = topics
    put(broker, table, [(key, f"row-{key}") for key in KEYS], NOON - 1000)
    put(broker, source, [(key, "early") for key in KEYS])
    # Without transactions nothing has to be taken back that other tasks have written already.
    once = {"application_id": f"meeting-{uuid.uuid4().hex[:8]}", "processing_guarantee": "at_least_once"}
    app = make_app(joined(source, table, target), **once)
    app.start()
    until(lambda: len(values(broker, target)) >= len(KEYS))
    assert "Exchange" not in executed_plan(app)
    put(broker, source, [(key, "late", astray(key)) for key in KEYS[:3]], NOON + 5000)
    until(lambda: len(values(broker, target)) >= len(KEYS) + 3)
    assert "Exchange" in executed_plan(app)
    assert app.state is State.RUNNING
    app.stop()
    expected = [f"early-row-{key}" for key in KEYS] + [f"late-row-{key}" for key in KEYS[:3]]
    assert set(values(broker, target)) == set(expected)
    # What was learnt is kept: the next start does not try again what failed.
    put(broker, source, [("k9", "last", astray("k9"))], NOON + 9000)
    again = make_app(joined(source, table, target), **once)
    again.run(until="now")
    assert "last-row-k9" in values(broker, target)
    assert "Exchange" in executed_plan(again)


def test_trusted_topics_are_left_as_they_are(make_app, broker, topics):
    source, table, target = topics
    put(broker, table, [(key, f"row-{key}", astray(key)) for key in KEYS], NOON - 1000)
    put(broker, source, [(key, key, astray(key)) for key in KEYS[:5]] + [(key, key) for key in KEYS[5:]])
    app = make_app(joined(source, table, target), co_partitioning="trusted")
    app.run(until="now")
    # Partitions chosen in one way of their own meet; those chosen otherwise do not, as in Kafka Streams.
    assert values(broker, target) == sorted(f"{key}-row-{key}" for key in KEYS[:5])
    assert "Exchange" not in executed_plan(app)


def test_trusted_topics_that_grow_are_refused(make_app, broker, topics):
    source, table, target = topics
    put(broker, table, [(key, f"row-{key}") for key in KEYS], NOON - 1000)
    settings = {"application_id": f"meeting-{uuid.uuid4().hex[:8]}", "co_partitioning": "trusted"}
    make_app(joined(source, table, target), **settings).run(until="now")
    for name in (source, table):
        broker.admin.add_partitions(name, 3)
    with pytest.raises(UsageError, match="got more partitions"):
        make_app(joined(source, table, target), **settings).run(until="now")


def test_batch_that_is_partly_written_is_not_placed_in_another_way(make_app, broker, topics, failpoint):
    source, table, target = topics
    put(broker, table, [(key, f"row-{key}") for key in KEYS], NOON - 1000)
    put(broker, source, [(key, key) for key in KEYS])
    name = f"meeting-{uuid.uuid4().hex[:8]}"
    failpoint("after_txn_commit_before_sink_ack:1:raise")
    app = make_app(joined(source, table, target), application_id=name, restart_limit=0)
    with pytest.raises(TidemillError):
        app.run(until="now")
    # A shuffle could bring other records into the task whose part is in Kafka already: they would be lost.
    moving = make_app(joined(source, table, target), application_id=name, co_partitioning="shuffle")
    with pytest.raises(LayoutChangedError) as failed:
        moving.run(until="now")
    assert "`in place` then" in str(failed.value)
    again = make_app(joined(source, table, target), application_id=name)
    again.run(until="now")
    assert values(broker, target) == sorted(f"{key}-row-{key}" for key in KEYS)
    # Between two batches the way may change.
    put(broker, source, [(key, "more") for key in KEYS], NOON + 1000)
    moving = make_app(joined(source, table, target), application_id=name, co_partitioning="shuffle")
    moving.run(until="now")
    assert len(values(broker, target)) == 2 * len(KEYS)


@pytest.mark.parametrize("way", ["checked", "shuffle"])
def test_backlog_is_read_in_time_not_topic_by_topic(make_app, broker, topics, way):
    """Many small batches: each record meets the row of its own time, although the table is much smaller."""
    source, table, target = topics
    put(broker, table, [(key, "old") for key in KEYS], NOON - 1000)
    put(broker, source, [(KEYS[n % 20], f"a{n}") for n in range(1500)])
    put(broker, table, [(key, "new") for key in KEYS], NOON + 1600)
    put(broker, source, [(KEYS[n % 20], f"b{n}") for n in range(1500)], NOON + 2000)
    app = make_app(joined(source, table, target), max_offsets_per_trigger=200, co_partitioning=way)
    app.run(until="now")
    assert app._watcher._query._query.lastProgress().batchId() >= 10
    assert values(broker, target) == sorted(
        [f"a{n}-old" for n in range(1500)] + [f"b{n}-new" for n in range(1500)]
    )


def test_records_of_one_moment_are_divided(make_app, broker, topics):
    source, table, target = topics
    put(broker, table, [(key, "row") for key in KEYS], NOON - 1000)
    broker.produce(source, ({"key": KEYS[n % 20], "value": f"v{n}", "timestamp": NOON} for n in range(1000)))
    app = make_app(joined(source, table, target), max_offsets_per_trigger=100)
    app.run(until="now")
    assert values(broker, target) == sorted(f"v{n}-row" for n in range(1000))
