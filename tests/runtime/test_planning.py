"""What is planned once and not for every batch, and what must not be."""

from __future__ import annotations

from pyspark.sql import functions as F

from runtime.topologies import long_of
from tidemill import StreamsBuilder, serdes


def executed_plan(app) -> str:
    return app._watcher._query.executed_plan()


def numbers(broker, source, count=60, partitions=2):
    broker.produce(
        source,
        (
            {"key": f"k{n % 7}", "value": n.to_bytes(8, "big"), "partition": n % partitions}
            for n in range(count)
        ),
    )


def test_spark_plans_one_node_for_all_that_is_the_same_in_every_batch(make_app, broker, topic):
    source, target = topic("in", partitions=2), topic("out")
    builder = StreamsBuilder()
    (
        builder.stream(source, key=serdes.string, value=serdes.long)
        .filter(lambda value: value % 2 == 0)
        .map_values(lambda value: value * 10)
        .group_by(lambda key, value: F.upper(key), key=serdes.string, name="upper")
        .reduce(lambda total, value: total + value, store="sums")
        .to_stream()
        .to(target, key=serdes.string, value=serdes.long)
    )
    numbers(broker, source)
    app = make_app(builder, max_offsets_per_trigger=10)
    app.run(until="now")
    last = {read.key.decode(): long_of(read.value) for read in broker.read(target)}
    assert last == {f"K{k}": sum(10 * n for n in range(k, 60, 7) if n % 2 == 0) for k in range(7)}
    plan = executed_plan(app)
    assert "upper" not in plan.lower(), plan
    assert plan.count("TaskMap generated code") == 3, plan


def test_topologies_without_state_are_planned_once_too(make_app, broker, topic):
    source, target = topic("in", partitions=2), topic("out")
    builder = StreamsBuilder()
    (
        builder.stream(source, key=serdes.string, value=serdes.long)
        .filter(lambda value: value > 50)
        .map_values(lambda value: value + 1000)
        .to(target, key=serdes.string, value=serdes.long)
    )
    numbers(broker, source)
    app = make_app(builder, max_offsets_per_trigger=10)
    app.run(until="now")
    assert sorted(long_of(read.value) for read in broker.read(target)) == list(range(1051, 1060))
    assert "1000" not in executed_plan(app)


def test_the_time_of_a_batch_is_that_of_each_batch(make_app, broker, topic):
    """A plan of the first batch would give all others its time."""
    source, target = topic("in", partitions=1), topic("out")
    builder = StreamsBuilder()
    (
        builder.stream(source, key=serdes.string, value=serdes.long)
        .map_values(lambda value: F.unix_micros(F.current_timestamp()))
        .to(target, key=serdes.string, value=serdes.long)
    )
    numbers(broker, source, count=6, partitions=1)
    make_app(builder, max_offsets_per_trigger=2).run(until="now")
    assert len({read.value for read in broker.read(target)}) == 3


def test_random_numbers_are_others_in_each_batch(make_app, broker, topic):
    source, target = topic("in", partitions=1), topic("out")
    builder = StreamsBuilder()
    (
        builder.stream(source, key=serdes.string, value=serdes.long)
        .map_values(lambda value: F.expr("uuid()"))
        .to(target, key=serdes.string, value=serdes.string)
    )
    numbers(broker, source, count=6, partitions=1)
    make_app(builder, max_offsets_per_trigger=2).run(until="now")
    assert len({read.value for read in broker.read(target)}) == 6
