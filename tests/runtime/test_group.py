"""Progress as a consumer group."""

from __future__ import annotations

from runtime.broker import until
from runtime.topologies import echo
from tidemill.kafka.groups import describe_group, progress


def test_group_shows_no_lag_when_all_is_done(make_app, broker, topic):
    source, target = topic("in", partitions=2), topic("out")
    broker.produce(source, ({"key": str(n), "value": "x"} for n in range(100)))
    app = make_app(echo(source, target))
    app.run(until="now")
    shown = progress(broker.admin, describe_group(broker.admin, app.application_id))
    assert {part.topic for part in shown} == {source}
    assert sum(part.current for part in shown) == 100
    assert [part.lag for part in shown] == [0, 0]


def test_group_is_never_ahead_of_the_output(make_app, broker, topic):
    source, target = topic("in"), topic("out")
    app = make_app(echo(source, target), max_offsets_per_trigger=20)
    broker.produce(source, ({"value": str(n)} for n in range(400)))
    app.start(until="now")
    while not app.wait(0.1):
        shown = broker.group(app.application_id).get((source, 0), 0)
        # The output is read after the group, so it has at least what the group claims.
        assert len(broker.read(target)) >= shown
    assert broker.group(app.application_id) == {(source, 0): 400}


def test_group_is_brought_up_to_date_on_start(make_app, broker, topic):
    """A crash between Spark's commit and the group's leaves the group behind; no new record is needed."""
    from tidemill.kafka.groups import commit_offsets

    source, target = topic("in"), topic("out")
    broker.produce(source, ({"value": str(n)} for n in range(5)))
    app = make_app(echo(source, target))
    app.run(until="now")
    commit_offsets(broker.admin, app.application_id, {(source, 0): 2})
    with make_app(echo(source, target), application_id=app.application_id) as again:
        until(lambda: broker.group(again.application_id) == {(source, 0): 5})
