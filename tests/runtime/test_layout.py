"""Where rows move: not at all from a topic to its tasks, once for a new key, and never through a sort."""

from __future__ import annotations

from pyspark.sql import functions as F

from runtime.topologies import long_of, word_count, words_counted
from tidemill import StreamsBuilder, serdes, windows

NOON = 1_700_000_000_000


def executed_plan(app) -> str:
    return app._watcher._query.executed_plan()


def shuffled_rows(plan) -> int:
    """How many rows the last batch wrote into shuffles."""
    own = plan.metrics().apply("shuffleRecordsWritten").value() if "Exchange" in plan.nodeName() else 0
    children = plan.children()
    return own + sum(shuffled_rows(children.apply(n)) for n in range(children.size()))


def test_partitions_are_tasks_as_they_are(make_app, broker, topic):
    """Three partitions on two tasks: tasks 0 takes partitions 0 and 2, the older record first."""
    source, target = topic("in", partitions=3), topic("out")
    builder = StreamsBuilder()
    (
        builder.stream(source, key=serdes.string, value=serdes.long)
        .group_by_key()
        .windowed_by(windows.tumbling("10 seconds", grace="0 seconds"))
        .aggregate(lambda key, value: F.sum(value), store="sums")
        .to_stream(lambda key, value: key.key)
        .to(target, key=serdes.string, value=serdes.long)
    )
    seconds = {0: [1, 12, 13], 1: [2, 3], 2: [4, 5, 20]}
    for partition, times in seconds.items():
        broker.produce(
            source,
            (
                {
                    "key": f"p{partition}",
                    "value": second.to_bytes(8, "big"),
                    "timestamp": NOON + second * 1000,
                    "partition": partition,
                }
                for second in times
            ),
        )
    app = make_app(builder, statestore_cache_max_bytes=0)
    app.run(until="now")
    found = [(read.key, long_of(read.value)) for read in broker.read(target)]
    assert [value for key, value in found if key == b"p1"] == [2, 5]
    # Record by record in the order of time: had partition 0 run to its end first, the records of partition 2
    # at seconds 4 and 5 would have been late.
    shared = [(key, value) for key, value in found if key != b"p1"]
    assert shared == [(b"p0", 1), (b"p2", 4), (b"p2", 9), (b"p0", 12), (b"p0", 25), (b"p2", 20)]
    plan = executed_plan(app)
    assert "TransformWithState" in plan
    assert "Exchange" not in plan, plan
    assert "Sort" not in plan, plan


def test_counts_under_a_new_key_are_combined_before_they_move(make_app, broker, topic):
    lines, counts = topic("lines", partitions=2), topic("counts")
    said = [f"round and round {n % 3}" for n in range(90)]
    broker.produce(lines, ({"value": line, "key": str(i)} for i, line in enumerate(said)))
    app = make_app(word_count(lines, counts), max_offsets_per_trigger=40)
    app.run(until="now")
    found = {read.key.decode(): long_of(read.value) for read in broker.read(counts)}
    assert found == words_counted(said)
    plan = executed_plan(app)
    assert plan.count("Exchange") == 1, plan
    assert plan.count("TransformWithState") == 1, plan
    assert "Sort" not in plan, plan
    moved = shuffled_rows(app._watcher._query._query.streamingQuery().lastExecution().executedPlan())
    assert 0 < moved <= 2 * 5, "a row per sending task and word, not one per word of each line"
