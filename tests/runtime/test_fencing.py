"""One instance per application id, wherever its state is: the second is refused, the older one fenced."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import replace

import pytest

from runtime.broker import until
from runtime.topologies import echo
from tidemill.errors import TidemillError
from tidemill.kafka.groups import delete_group, describe_group
from tidemill.runtime import Reaction, State
from tidemill.runtime.claim import InstanceClaim
from tidemill.runtime.topics import marker_topic

GUARANTEES = ("exactly_once_v2", "at_least_once")


def values(broker, topic: str) -> list[bytes]:
    return [read.value for read in broker.read(topic)]


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_second_instance_elsewhere_is_refused(make_app, broker, topic, tmp_path, guarantee):
    source, copy = topic("in"), topic("copy")
    settings = {"application_id": f"one-{source}", "processing_guarantee": guarantee}
    first = make_app(echo(source, copy), **settings)
    first.start()
    broker.produce(source, [{"value": "1"}])
    until(lambda: values(broker, copy) == [b"1"])
    second = make_app(
        echo(source, copy), **settings, state_dir=tmp_path / "other", missing_checkpoint="group"
    )
    began = time.monotonic()
    with pytest.raises(TidemillError, match="runs already") as refused:
        second.start()
    assert time.monotonic() - began < 8, "an instance that lives is told from a dead one in a few seconds"
    assert refused.value.code == "ALREADY_RUNNING"
    for part in (f"process {os.getpid()}", socket.gethostname(), "since 20", str(tmp_path / "state")):
        assert part in str(refused.value)
    broker.produce(source, [{"value": "2"}])
    until(lambda: values(broker, copy) == [b"1", b"2"])
    assert first.stop()
    # The place is free at once after an orderly end.
    began = time.monotonic()
    second.run(until="now")
    assert time.monotonic() - began < 8
    assert values(broker, copy) == [b"1", b"2"]


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_older_instance_is_fenced(make_app, broker, topic, spark, guarantee):
    """A newcomer in the old one's place, as after a pause of the old one that looked like its death."""
    source, copy = topic("in"), topic("copy")
    old = make_app(echo(source, copy), application_id=f"old-{source}", processing_guarantee=guarantee)
    old.start()
    broker.produce(source, [{"value": "1"}])
    until(lambda: values(broker, copy) == [b"1"])
    elsewhere = replace(old.config, state_dir="/elsewhere")
    newcomer = InstanceClaim(elsewhere, broker.admin)
    newcomer.take(spark, "newcomer")
    try:
        until(newcomer.is_ours)
        if guarantee == "at_least_once":
            # Without transactions nothing but the word of the group stops it, which takes a heartbeat.
            assert old.wait(20)
        broker.produce(source, [{"value": "2"}])
        assert old.wait(20)
        assert old.error is not None
        assert old.error.code == "FENCED"
        assert newcomer.is_ours()
    finally:
        newcomer.release()
    assert values(broker, copy) == [b"1"]
    old.run(until="now")
    assert values(broker, copy) == [b"1", b"2"]


def test_instance_taken_for_dead_comes_back_by_itself(make_app, broker, topic, spark):
    source, copy = topic("in"), topic("copy")
    with make_app(echo(source, copy)) as app:
        broker.produce(source, [{"value": "1"}])
        until(lambda: values(broker, copy) == [b"1"])
        _remove_members(spark, broker, marker_topic(app.application_id))
        broker.produce(source, [{"value": "2"}])
        until(lambda: values(broker, copy) == [b"1", b"2"])
        until(lambda: app.state is State.RUNNING)
        assert app.metrics()["restarts"] >= 1


def _remove_members(spark, broker, group: str) -> None:
    """What a broker does with a member whose session is over."""
    jvm = spark._jvm
    config = jvm.java.util.HashMap()
    config.put("bootstrap.servers", broker.servers)
    admin = jvm.org.apache.kafka.clients.admin.Admin.create(config)
    options = jvm.org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions()
    admin.removeMembersFromConsumerGroup(group, options).all().get()
    admin.close()


def test_claim_is_seen_by_every_tool(make_app, broker, topic):
    source, copy = topic("in"), topic("copy")
    with make_app(echo(source, copy)) as app:
        group = marker_topic(app.application_id)
        until(lambda: describe_group(broker.admin, group).members)
        (member,) = describe_group(broker.admin, group).members
        assert member.client_id == f"{app.application_id}@{socket.gethostname()}:{os.getpid()}"
    assert not describe_group(broker.admin, group).members


def test_forgotten_markers_are_not_guessed(make_app, broker, topic, failpoint):
    """Brokers forget a group nobody used for a week: a batch that was in work is not done again blindly."""
    source, copy = topic("in"), topic("copy")
    broker.produce(source, [{"value": "1"}])
    app = make_app(echo(source, copy))
    app.on_error(lambda error: Reaction.SHUTDOWN)
    failpoint("after_txn_commit_before_sink_ack:1:raise")
    with pytest.raises(TidemillError):
        app.run(until="now")
    delete_group(broker.admin, marker_topic(app.application_id))
    with pytest.raises(TidemillError, match="batch 0 was in work") as refused:
        app.run(until="now")
    assert refused.value.code == "MARKERS_GONE"
    assert values(broker, copy) == [b"1"]
    settings = {"application_id": app.application_id, "missing_markers": "replay"}
    make_app(echo(source, copy), **settings).run(until="now")
    assert values(broker, copy) == [b"1", b"1"]


def test_app_that_stopped_in_order_needs_no_markers(make_app, broker, topic):
    source, copy = topic("in"), topic("copy")
    app = make_app(echo(source, copy))
    app.start()
    broker.produce(source, [{"value": "1"}])
    until(lambda: values(broker, copy) == [b"1"])
    app.pause()
    broker.produce(source, [{"value": "2"}])
    # The batch is begun, and waits behind the gate.
    until(lambda: (app.config.folder / "checkpoint" / "offsets" / "1").exists())
    assert app.stop()
    delete_group(broker.admin, marker_topic(app.application_id))
    app.run(until="now")
    assert values(broker, copy) == [b"1", b"2"]
