"""Where reading begins and ends, and what becomes of topics meanwhile."""

from __future__ import annotations

import re
import time
from collections import Counter
from datetime import UTC, datetime

import pytest
from confluent_kafka import TopicPartition

from runtime.broker import until
from runtime.topologies import echo, long_of
from tidemill import StreamsBuilder, serdes
from tidemill.errors import NotFound, TidemillError, UsageError
from tidemill.runtime import App, State

HOUR = 3_600_000


def values(broker, topic: str) -> list[str]:
    return [read.value.decode() for read in broker.read(topic)]


def text(builder: StreamsBuilder, source, **options):
    return builder.stream(source, key=serdes.string, value=serdes.string, **options)


def counted(source: str, target: str) -> StreamsBuilder:
    """How many records of a key there have been: kept by the task of the key's partition."""
    builder = StreamsBuilder()
    text(builder, source).group_by_key().count(store="seen").to_stream().to(target, value=serdes.long)
    return builder


def counts(broker, topic: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for read in broker.read(topic):
        found.setdefault(read.key.decode(), []).append(long_of(read.value))
    return found


def delete_records(broker, topic: str, before: int) -> None:
    (future,) = broker.admin.raw.delete_records([TopicPartition(topic, 0, before)]).values()
    future.result(10)


def recreate(broker, topic: str, records: int) -> None:
    broker.admin.delete([topic])
    until(lambda: not broker.admin.exists(topic))
    broker.admin.create(topic, partitions=1)
    broker.produce(topic, ({"value": f"new {n}"} for n in range(records)))


def test_each_source_begins_where_it_says(make_app, broker, topic):
    names = {kind: topic(kind) for kind in ("earliest", "latest", "duration", "app")}
    target = topic("out")
    now = round(time.time() * 1000)
    for kind, name in names.items():
        broker.produce(name, [{"value": f"{kind} old", "timestamp": now - 2 * HOUR}])
        broker.produce(name, [{"value": f"{kind} new", "timestamp": now}])
    builder = StreamsBuilder()
    first = text(builder, names["earliest"], offset_reset="earliest")
    first = first.merge(text(builder, names["latest"], offset_reset="latest"))
    first = first.merge(text(builder, names["duration"], offset_reset="by_duration:PT1H"))
    first.merge(text(builder, names["app"])).to(target)
    make_app(builder, auto_offset_reset="by_duration:PT90M").run(until="now")
    assert sorted(values(broker, target)) == ["app new", "duration new", "earliest new", "earliest old"]


def test_app_begins_at_offsets_and_times(make_app, broker, topic):
    parts, moment, end, rest = topic("parts", partitions=2), topic("moment"), topic("end"), topic("rest")
    target = topic("out")
    now = round(time.time() * 1000)
    for name in (moment, end, rest):
        times = (now - 2 * HOUR, now - HOUR, now)
        broker.produce(name, ({"value": f"{name[:3]}{n}", "timestamp": t} for n, t in enumerate(times)))
    for part in (0, 1):
        broker.produce(parts, ({"value": f"p{part} {n}", "partition": part} for n in range(3)))
    builder = StreamsBuilder()
    stream = text(builder, [parts, moment])
    stream.merge(text(builder, [end, rest])).to(target)
    at = datetime.fromtimestamp((now - HOUR) / 1000, UTC)
    start = {parts: {1: 2}, moment: at, end: "latest"}
    make_app(builder, starting_offsets=start).run(until="now")
    expected = ["mom1", "mom2", "p0 0", "p0 1", "p0 2", "p1 2", "res0", "res1", "res2"]
    assert sorted(values(broker, target)) == expected


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({"other": "latest"}, "does not read topic `other`"),
        ({"in": {7: 0}}, "has no partition 7"),
        ("soon", "`soon` is no place to begin"),
    ],
)
def test_wrong_beginning_is_refused(make_app, topic, start, said):
    source = topic("in")
    given = (
        {source if name == "in" else name: place for name, place in start.items()}
        if start != "soon"
        else start
    )
    with pytest.raises(UsageError, match=said):
        make_app(echo(source, "out"), starting_offsets=given).start()


def test_topic_that_matches_later_is_read(make_app, broker, topic):
    first, target = topic("euro"), topic("out")
    builder = StreamsBuilder()
    text(builder, re.compile(re.escape(first) + ".*"), name="europe").to(target)
    # The app's own topic matches as well, and is not read.
    with make_app(builder, application_id=f"{first}-app") as app:
        broker.produce(first, [{"value": "1"}])
        until(lambda: values(broker, target) == ["1"])
        broker.admin.create(f"{first}-two", partitions=2)
        broker.produce(f"{first}-two", ({"value": str(n), "partition": n % 2} for n in (2, 3)))
        until(lambda: sorted(values(broker, target)) == ["1", "2", "3"])
    assert {name for name, _ in broker.group(app.application_id)} == {first, f"{first}-two"}
    broker.produce(f"{first}-two", [{"value": "4"}])
    app.run(until="now")
    assert sorted(values(broker, target)) == ["1", "2", "3", "4"]


def test_added_partitions_are_read_and_state_is_found(make_app, broker, topic):
    source, target = topic("in", partitions=2), topic("out")
    keys = [f"k{n}" for n in range(30)]
    settings = {"statestore_cache_max_bytes": 0, "restart_limit": 2}

    def one_of_each() -> None:
        # A producer of its own, because one learns late of new partitions.
        type(broker)(broker.cluster).produce(source, ({"key": key, "value": "x"} for key in keys))

    with make_app(counted(source, target), **settings) as app:
        one_of_each()
        until(lambda: len(broker.read(target)) == 30)
        broker.admin.add_partitions(source, 3)
        one_of_each()
        until(lambda: len(broker.read(target)) == 60)
        assert app.metadata()["tasks"] == 2
    broker.admin.add_partitions(source, 5)
    one_of_each()
    app.run(until="now")
    assert counts(broker, target) == {key: [1, 2, 3] for key in keys}
    assert {read.partition for read in broker.read(source)} == {0, 1, 2, 3, 4}
    # A key where no Java producer would put it: nobody knows which task has its state.
    wrong = {read.key: read.partition for read in broker.read(source)}
    broker.produce(source, [{"key": b"k1", "value": "x", "partition": (wrong[b"k1"] + 1) % 5}])
    placed = _murmur2(b"k1")
    if (wrong[b"k1"] + 1) % 5 not in {placed % 2, placed % 3}:
        with pytest.raises(TidemillError, match="got more partitions, and whoever wrote the record"):
            app.run(until="now")


def _murmur2(data: bytes) -> int:
    from runtime.test_records import _murmur2 as hashed

    return hashed(data)


def test_lost_offsets_are_named_or_left_out(make_app, broker, topic):
    source, target = topic("in"), topic("out")
    broker.produce(source, ({"value": str(n)} for n in range(10)))
    app = make_app(echo(source, target))
    app.run(until="now")
    broker.produce(source, ({"value": str(n)} for n in range(10, 20)))
    delete_records(broker, source, 15)
    with pytest.raises(TidemillError) as lost:
        app.run(until="now")
    assert lost.value.code == "OFFSETS_LOST"
    assert f"topic `{source}` partition 0: wanted offset 10, available are 15 to 20" in str(lost.value)
    assert "offsets.lost=earliest" in str(lost.value)
    again = make_app(echo(source, target), application_id=app.application_id, offsets_lost="earliest")
    again.run(until="now")
    assert values(broker, target) == [str(n) for n in (*range(10), *range(15, 20))]
    broker.produce(source, [{"value": "gone"}, {"value": "gone"}])
    delete_records(broker, source, 21)
    latest = make_app(echo(source, target), application_id=app.application_id, offsets_lost="latest")
    latest.run(until="now")
    broker.produce(source, [{"value": "last"}])
    latest.run(until="now")
    assert values(broker, target)[15:] == ["last"]


def test_recreated_topic_is_not_taken_for_the_old_one(make_app, broker, topic):
    source, target = topic("in"), topic("out")
    broker.produce(source, ({"value": f"old {n}"} for n in range(3)))
    app = make_app(echo(source, target))
    app.run(until="now")
    # More records than before: by its offsets alone the topic looks like the old one.
    recreate(broker, source, 5)
    with pytest.raises(TidemillError, match="deleted and created again") as lost:
        app.run(until="now")
    assert lost.value.code == "OFFSETS_LOST"
    assert f"topic `{source}` partition 0: wanted offset 3, available are 0 to 5" in str(lost.value)
    again = make_app(echo(source, target), application_id=app.application_id, offsets_lost="earliest")
    again.run(until="now")
    assert values(broker, target)[3:] == [f"new {n}" for n in range(5)]
    broker.produce(source, [{"value": "more"}])
    # It is the known one from now on.
    app.run(until="now")
    assert values(broker, target)[8:] == ["more"]


def test_topic_that_goes_away_is_named(make_app, broker, topic):
    source, target = topic("in"), topic("out")
    with make_app(echo(source, target), restart_limit=2) as app:
        broker.produce(source, [{"value": "1"}])
        until(lambda: values(broker, target) == ["1"])
        broker.admin.delete([source])
        assert app.wait(40)
        assert isinstance(app.error, NotFound)
        assert f"topic `{source}` does not exist" in str(app.error)


def test_run_ends_exactly_where_it_is_told_and_goes_on_later(make_app, broker, topic):
    source, target = topic("in", partitions=2), topic("out")
    noon = 1_700_000_000_000
    for part in (0, 1):
        sent = (
            {"key": f"k{part}", "value": "x", "partition": part, "timestamp": noon + n} for n in range(100)
        )
        broker.produce(source, sent)
    app = make_app(counted(source, target), statestore_cache_max_bytes=0, max_offsets_per_trigger=30)

    def last() -> dict[str, int]:
        found = counts(broker, target)
        assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in found.values())
        return {key: len(numbers) for key, numbers in found.items()}

    app.run(until={source: {0: 37, 1: 5}})
    assert last() == {"k0": 37, "k1": 5}
    assert broker.group(app.application_id) == {(source, 0): 37, (source, 1): 5}
    assert app.state is State.STOPPED
    app.run(until=datetime.fromtimestamp((noon + 60) / 1000, UTC))
    assert last() == {"k0": 60, "k1": 60}
    # Behind where it is already: nothing to do, and nothing undone.
    app.run(until={source: {0: 10, 1: 80}})
    assert last() == {"k0": 60, "k1": 80}
    app.run(until="now")
    assert last() == {"k0": 100, "k1": 100}


@pytest.mark.slow
def test_history_as_a_batch_gives_what_a_stream_gives(make_app, broker, topic):
    source, live, batch = topic("in", partitions=2), topic("live"), topic("batch")
    sent = [{"key": f"k{n % 5}", "value": "x"} for n in range(200)]
    broker.produce(source, sent)
    totals = Counter(record["key"] for record in sent)
    with make_app(counted(source, live)):
        until(lambda: {key: max(numbers) for key, numbers in counts(broker, live).items()} == totals)
    make_app(counted(source, batch)).run(until="now")
    assert {key: max(numbers) for key, numbers in counts(broker, batch).items()} == totals


def test_end_that_is_not_there_is_refused(make_app, broker, topic):
    source = topic("in")
    broker.produce(source, [{"value": "1"}])
    app = make_app(echo(source, topic("out")))
    for wrong, said in (
        ({source: {0: 2}}, "ends at 1, `until` says 2"),
        ({"elsewhere": {0: 1}}, "does not read partition 0 of topic `elsewhere`"),
        (f"{source}:0=3", "ends at 1, `until` says 3"),
        ("later", "`later` is no end of a run"),
    ):
        with pytest.raises(UsageError, match=said):
            app.run(until=wrong)


def test_source_policy_none_needs_a_position(topic, make_app):
    builder = StreamsBuilder()
    text(builder, topic("in"), offset_reset="none").to("out")
    with pytest.raises(UsageError, match="its reset policy is `none`"):
        make_app(builder).start()


def test_settings_are_read():
    app = App("settings", echo("in", "out"), auto_offset_reset="by_duration:PT1H", offsets_lost="latest")
    assert app.config.offset_reset.duration == HOUR
    assert app.config.offsets_lost == "latest"
    with pytest.raises(UsageError, match="by_duration:PT1H"):
        App("settings", echo("in", "out"), auto_offset_reset="sometimes")
