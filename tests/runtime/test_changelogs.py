"""Changelog topics on a broker: their settings, what is in them, after a crash and after a reset."""

from __future__ import annotations

import re
import time

from runtime.topologies import long_of
from tidemill import StreamsBuilder, serdes, windows
from tidemill.kafka.partitioner import partition_of

DAY_MS = 24 * 60 * 60 * 1000


def counting(source: str, **logging) -> StreamsBuilder:
    """Counts per key, and per key and ten seconds; `logging` says which of both are logged."""
    builder = StreamsBuilder()
    grouped = builder.stream(source, key=serdes.string, value=serdes.string).group_by_key()
    grouped.count(store="totals", logging=logging.get("totals", False))
    windowed = grouped.windowed_by(windows.tumbling("10 s", grace="5 s"))
    windowed.count(store="tens", logging=logging.get("tens", False))
    return builder


def settings_of(broker, topic: str) -> dict[str, str | None]:
    return {each.name: each.value for each in broker.admin.configs(topic)}


def final_rows(broker, topic: str) -> dict[bytes, int | None]:
    """What is left once the topic is compacted."""
    return {read.key: None if read.value is None else long_of(read.value) for read in broker.read(topic)}


def test_changelog_topics_hold_the_tables(make_app, broker, topic):
    source = topic("in", partitions=2)
    # Not long ago: a broker deletes what is older than its topic's retention.
    start = int(time.time()) // 10 * 10_000 - 60_000
    sent = [{"key": f"k{n % 5}", "value": str(n), "timestamp": start + 1_000 * n} for n in range(30)]
    broker.produce(source, sent)
    app = make_app(counting(source, totals={"segment.ms": "60000"}, tens=True), tasks=3)
    app.run(until="now")
    totals, tens = (f"{app.application_id}-{store}-changelog" for store in ("totals", "tens"))

    assert len(broker.admin.topic(totals).partitions) == 3, "one for each task"
    plain, windowed = settings_of(broker, totals), settings_of(broker, tens)
    assert (plain["cleanup.policy"], plain["segment.ms"]) == ("compact", "60000")
    assert set(windowed["cleanup.policy"].split(",")) == {"compact", "delete"}
    assert windowed["retention.ms"] == str(15_000 + DAY_MS)

    assert final_rows(broker, totals) == {f"k{n}".encode(): 6 for n in range(5)}
    for read in broker.read(totals):
        assert read.partition == partition_of(read.key, 3)
    # A record has the time of the row: that of the last record that was counted.
    last = {read.key: read.timestamp for read in broker.read(totals)}
    assert last == {f"k{n}".encode(): start + 1_000 * (25 + n) for n in range(5)}
    key = serdes.time_windowed(serdes.string, "10 s", changelog=True)
    rows = {key.decode(data): count for data, count in final_rows(broker, tens).items()}
    assert {(row.key, row.start): count for row, count in rows.items()} == {
        (f"k{n}", start + after): 2 for n in range(5) for after in (0, 10_000, 20_000)
    }
    assert "totals-changelog" not in app.describe()


def test_changelog_is_written_once_whatever_fails(make_app, broker, topic, failpoint):
    source = topic("in", partitions=2)
    broker.produce(source, [{"key": f"k{n % 7}", "value": str(n)} for n in range(300)])
    app = make_app(counting(source, totals=True), max_offsets_per_trigger=50, statestore_cache_max_bytes=0)
    points = ("after_produce_before_txn_commit", "after_txn_commit_before_sink_ack")
    failpoint(",".join(f"{point}:{hit}:raise" for point in points for hit in (2, 5)))
    app.run(until="now")
    assert app.metrics()["restarts"] >= 2
    found: dict[bytes, list[int]] = {}
    for read in broker.read(f"{app.application_id}-totals-changelog"):
        found.setdefault(read.key, []).append(long_of(read.value))
    assert found == {f"k{n}".encode(): list(range(1, len(range(n, 300, 7)) + 1)) for n in range(7)}, (
        "each update once and in order"
    )


def test_logging_can_be_switched_on_and_a_reset_takes_it_away(make_app, broker, topic):
    source = topic("in")
    broker.produce(source, [{"key": "a", "value": "1"}] * 3)
    name = f"later-{source}"
    make_app(counting(source), application_id=name).run(until="now")
    changelog = f"{name}-totals-changelog"
    assert not broker.admin.exists(changelog), "by default there is none"
    broker.produce(source, [{"key": "a", "value": "2"}])
    logged = make_app(counting(source, totals=True), application_id=name)
    logged.run(until="now")
    assert final_rows(broker, changelog) == {b"a": 4}, "the state was kept"
    assert changelog in logged.reset().topics
    assert not broker.admin.exists(changelog)


def test_patterns_do_not_match_changelogs(make_app, broker, topic):
    source = topic("in")
    broker.produce(source, [{"key": "a", "value": "1"}] * 3)
    builder = StreamsBuilder()
    name = f"{source}-app"
    stream = builder.stream(re.compile(f"{re.escape(source)}.*"), key=serdes.string, value=serdes.string)
    stream.group_by_key().count(store="totals", logging=True)
    for _ in range(2):
        make_app(builder, application_id=name).run(until="now")
    assert final_rows(broker, f"{name}-totals-changelog") == {b"a": 3}
