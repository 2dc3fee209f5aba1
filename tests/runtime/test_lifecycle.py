"""Starting, pausing, stopping, going on, and what is refused."""

from __future__ import annotations

import pytest

from runtime.broker import until
from runtime.topologies import echo, long_of, word_count
from tidemill.errors import NotFound, TidemillError
from tidemill.runtime import App, State


def test_stopped_app_goes_on_where_it_was(make_app, broker, topic):
    lines, counts = topic("lines"), topic("counts")
    builder = word_count(lines, counts)
    app = make_app(builder)
    for day in range(2):
        broker.produce(lines, [{"value": "a b a"}])
        with app:
            until(lambda day=day: len(broker.read(counts)) == 2 * (day + 1))
        assert app.state is State.STOPPED
    # Words are counted by different tasks, whose records have no order among each other.
    got = sorted((read.key, long_of(read.value)) for read in broker.read(counts))
    assert got == [(b"a", 2), (b"a", 4), (b"b", 1), (b"b", 2)]


def test_another_app_object_goes_on_too(make_app, broker, topic):
    lines, counts = topic("lines"), topic("counts")
    for total in (1, 2):
        broker.produce(lines, [{"value": "a"}])
        make_app(word_count(lines, counts), application_id=f"same-{lines}").run(until="now")
        assert long_of(broker.read(counts)[-1].value) == total


def test_bounded_run_ends_by_itself(make_app, broker, topic):
    source, target = topic("in", partitions=3), topic("out")
    broker.produce(source, ({"key": str(n), "value": str(n)} for n in range(500)))
    app = make_app(echo(source, target), max_offsets_per_trigger=100)
    app.run(until="now")
    assert app.state is State.STOPPED
    assert {int(read.value) for read in broker.read(target)} == set(range(500))
    assert app.metrics()["records_in"] == app.metrics()["records_out"] == 500
    assert app.metrics()["batches"] >= 5


def test_paused_app_does_nothing_until_resumed(make_app, broker, topic):
    source, target = topic("in"), topic("out")
    with make_app(echo(source, target)) as app:
        broker.produce(source, [{"value": "before"}])
        until(lambda: len(broker.read(target)) == 1)
        app.pause()
        assert app.state is State.PAUSED
        broker.produce(source, [{"value": "after"}])
        assert not app.wait(1.0)
        assert len(broker.read(target)) == 1
        app.resume()
        until(lambda: len(broker.read(target)) == 2)
        assert app.state is State.RUNNING


def test_listeners_see_every_state(make_app, broker, topic):
    seen = []
    app = make_app(echo(topic("in"), topic("out")))
    app.on_state_change(lambda new, old: seen.append((old, new)))
    app.run(until="now")
    assert [new for _, new in seen] == [State.STARTING, State.RUNNING, State.STOPPING, State.STOPPED]


def test_second_instance_is_refused(make_app, topic):
    builder = echo(topic("in"), topic("out"))
    with make_app(builder, application_id="twin"):
        second = make_app(builder, application_id="twin")
        with pytest.raises(TidemillError, match="the app `twin` runs already") as refused:
            second.start()
        assert refused.value.code == "ALREADY_RUNNING"
        assert second.state is State.ERROR
    second.run(until="now")


def test_second_instance_with_another_state_directory_is_refused(make_app, broker, topic, tmp_path):
    source = topic("in")
    builder = echo(source, topic("out"))
    broker.produce(source, [{"value": "x"}])
    make_app(builder, application_id=f"moved-{source}").run(until="now")
    elsewhere = make_app(builder, application_id=f"moved-{source}", state_dir=tmp_path / "other")
    with pytest.raises(TidemillError, match="has offsets, but the state directory has no state") as refused:
        elsewhere.start()
    assert refused.value.code == "CHECKPOINT_MISSING"


def test_group_offsets_are_taken_over_when_asked(make_app, broker, topic, tmp_path):
    source, target = topic("in"), topic("out")
    builder = echo(source, target)
    broker.produce(source, [{"value": "old"}])
    make_app(builder, application_id=f"taken-{source}").run(until="now")
    broker.produce(source, [{"value": "new"}])
    settings = {"state_dir": tmp_path / "other", "missing_checkpoint": "group"}
    make_app(builder, application_id=f"taken-{source}", **settings).run(until="now")
    assert [read.value for read in broker.read(target)] == [b"old", b"new"]


def test_missing_source_topic_is_named(make_app, topic):
    app = make_app(echo("nowhere", topic("out")))
    with pytest.raises(NotFound, match="topic `nowhere` does not exist; `stream-of-nowhere` reads it"):
        app.start()


def test_missing_sink_topic_is_created_like_the_source(make_app, broker, topic):
    source = topic("in", partitions=3)
    make_app(echo(source, f"{source}-made")).run(until="now")
    assert len(broker.admin.topic(f"{source}-made").partitions) == 3


def test_missing_sink_topic_is_refused_without_auto_creation(make_app, topic):
    source = topic("in")
    app = make_app(echo(source, f"{source}-made"), auto_create_topics=False)
    with pytest.raises(NotFound, match=r"does not exist; `.*` writes it"):
        app.start()


def test_created_topics_have_the_replicas_asked_for(make_app, topic):
    source = topic("in")
    app = make_app(echo(source, f"{source}-made"), replication_factor=2)
    with pytest.raises(TidemillError, match=r"(?i)replication"):
        app.start()


def test_changed_topology_is_refused(make_app, broker, topic):
    lines, counts = topic("lines"), topic("counts")
    app_id = f"changed-{lines}"
    make_app(word_count(lines, counts), application_id=app_id).run(until="now")
    from tidemill import StreamsBuilder, serdes

    builder = StreamsBuilder()
    stream = builder.stream(lines, key=serdes.string, value=serdes.string)
    stream.group_by_key().count(store="counts").to_stream().to(counts)
    with pytest.raises(TidemillError, match="the state does not survive") as refused:
        make_app(builder, application_id=app_id).start()
    assert refused.value.code == "INCOMPATIBLE_STATE"


def test_app_that_was_never_started_stops(make_app, topic):
    app = make_app(echo(topic("in"), topic("out")))
    assert app.stop()
    assert app.state is State.STOPPED


def test_plan_and_topology_can_be_read(topic):
    app = App("reader", word_count("lines", "counts"), bootstrap_servers="localhost:1")
    assert "so records are shuffled" in app.explain()
    assert "count-counts" in app.describe()
    assert app.metadata()["state"] == "CREATED"


def test_metadata_tells_how_far_each_partition_is(make_app, broker, topic):
    source, target = topic("in", partitions=2), topic("out")
    broker.produce(source, [{"value": str(n), "partition": n % 2} for n in range(5)])
    app = make_app(echo(source, target))
    assert app.metadata()["partitions"] == []
    app.run(until="now")
    assert app.metadata()["partitions"] == [
        {"topic": source, "partition": 0, "committed": 3, "end": 3},
        {"topic": source, "partition": 1, "committed": 2, "end": 2},
    ]
