"""Exactly-once: whatever happens to a batch, readers of committed records see it once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from confluent_kafka import Producer

from runtime.broker import until
from runtime.topologies import echo, echo_and_count, long_of
from tidemill.errors import TidemillError
from tidemill.runtime import Reaction, State

FAILPOINTS = ("after_produce_before_txn_commit", "after_txn_commit_before_sink_ack")
PROGRAM = Path(__file__).with_name("program.py")
NO_CACHE = {"statestore_cache_max_bytes": 0}


def records(count: int, keys: int = 7):
    return [{"key": f"k{n % keys}", "value": str(n)} for n in range(count)]


def check(broker, sent, copy: str, *counts: str) -> None:
    """The output is what plain Python makes of the input: each record once, each count once and in order."""
    copied = Counter(read.value.decode() for read in broker.read(copy))
    assert copied == Counter(record["value"] for record in sent)
    totals = Counter(record["key"] for record in sent)
    for topic in counts:
        found = defaultdict(list)
        for read in broker.read(topic):
            found[read.key.decode()].append(long_of(read.value))
        assert found == {key: list(range(1, total + 1)) for key, total in totals.items()}, topic


@pytest.mark.parametrize("name", FAILPOINTS)
def test_batch_that_failed_is_replayed_once(make_app, broker, topic, failpoint, name):
    source, copy, counts = topic("in", partitions=2), topic("copy", partitions=2), topic("counts")
    sent = records(300)
    broker.produce(source, sent)
    app = make_app(echo_and_count(source, copy, counts), max_offsets_per_trigger=50, **NO_CACHE)
    failpoint(",".join(f"{name}:{hit}:raise" for hit in (2, 5, 6)))
    app.run(until="now")
    assert app.metrics()["restarts"] == 3
    check(broker, sent, copy, counts)


@pytest.mark.parametrize("name", FAILPOINTS)
def test_stateless_batch_that_failed_is_replayed_once(make_app, broker, topic, failpoint, name):
    source, copy = topic("in", partitions=3), topic("copy", partitions=2)
    sent = records(300)
    broker.produce(source, sent)
    app = make_app(echo(source, copy), max_offsets_per_trigger=60)
    failpoint(",".join(f"{name}:{hit}:raise" for hit in (2, 5, 9)))
    app.run(until="now")
    assert app.metrics()["restarts"] == 3
    assert Counter(int(read.value) for read in broker.read(copy)) == Counter(range(300))


def test_aborted_records_are_there_for_careless_readers_only(make_app, broker, topic, failpoint):
    source, copy, second = topic("in"), topic("copy"), topic("second")
    abort_into(broker, source, 5)
    broker.produce(source, records(20))
    abort_into(broker, source, 5)
    name = "after_produce_before_txn_commit"
    # The pause is for the records to be sent before their transaction fails.
    failpoint(",".join(f"{name}:{hit}:{act}" for hit in (3, 1) for act in ("sleep=500", "raise")))
    app = make_app(echo(source, copy), max_offsets_per_trigger=16)
    app.run(until="now")
    assert app.metrics()["restarts"] == 2
    abort_into(broker, copy, 5)
    for name_, committed, aborted in ((source, 20, 10), (copy, 20, 5)):
        assert len(broker.read(name_)) == committed
        # What was aborted is in the log, before the first record that counts and after the last.
        log = [read.value for read in broker.read(name_, isolation="read_uncommitted")]
        assert len(log) >= committed + aborted
        assert log[-5:] == [b"aborted"] * 5
    assert [read.value for read in broker.read(source, isolation="read_uncommitted")][:5] == [b"aborted"] * 5
    careless = broker.read(copy, isolation="read_uncommitted")
    assert len(careless) > 25, "the failed batches left records in the output too"
    make_app(echo(copy, second)).run(until="now")
    assert [int(read.value) for read in broker.read(second)] == list(range(20))


def abort_into(broker, topic: str, count: int) -> None:
    producer = Producer({**broker.settings.librdkafka(), "transactional.id": f"aborts-{uuid.uuid4().hex}"})
    producer.init_transactions(10)
    producer.begin_transaction()
    for _ in range(count):
        producer.produce(topic, "aborted")
    producer.flush(10)
    producer.abort_transaction(10)


def test_at_least_once_loses_nothing(make_app, broker, topic):
    source, copy, counts = topic("in", partitions=2), topic("copy"), topic("counts")
    sent = records(200)
    broker.produce(source, sent)
    app = make_app(
        echo_and_count(source, copy, counts),
        processing_guarantee="at_least_once",
        max_offsets_per_trigger=50,
        **NO_CACHE,
    )
    app.run(until="now")
    check(broker, sent, copy, counts)
    assert not [part for part in broker.group(f"{app.application_id}-markers") if part[1] > 0], "no markers"


def test_other_checkpoint_counts_its_batches_anew(make_app, broker, topic, tmp_path):
    """Markers of a lost checkpoint must not make a new one skip its first batches."""
    source, copy = topic("in"), topic("copy")
    broker.produce(source, records(30))
    name = f"anew-{source}"
    make_app(echo(source, copy), application_id=name, max_offsets_per_trigger=5).run(until="now")
    settings = {"state_dir": tmp_path / "other", "missing_checkpoint": "reset"}
    make_app(echo(source, copy), application_id=name, **settings).run(until="now")
    assert len(broker.read(copy)) == 60


def test_error_handler_decides(make_app, broker, topic, failpoint):
    source, copy = topic("in"), topic("copy")
    broker.produce(source, records(5))
    failpoint("after_produce_before_txn_commit:1:raise")
    app = make_app(echo(source, copy))
    told = []
    app.on_error(lambda error: told.append(error) or Reaction.SHUTDOWN)
    with pytest.raises(TidemillError, match="failpoint after_produce_before_txn_commit"):
        app.run(until="now")
    assert app.state is State.ERROR
    assert [error.code for error in told] == ["QUERY_FAILED"]
    app.run(until="now")
    assert len(broker.read(copy)) == 5


class Program:
    """An app in a process of its own, to be killed."""

    def __init__(self, broker, state_dir: Path, *topics: str, **environment: str) -> None:
        self._log = (state_dir / "out.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), broker.servers, str(state_dir), *topics],
            env={**os.environ, **environment},
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def wait(self, timeout: float = 120.0) -> int:
        try:
            return self.process.wait(timeout)
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill Python alone, as the kernel's memory killer would; Spark's JVM has to notice by itself."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(10)
        self._log.close()


def group_total(broker, name: str) -> int:
    return sum(broker.group(name).values())


@pytest.fixture
def run(broker, tmp_path):
    """Starts programs that do not outlive the test."""
    started = []

    def start(*topics: str, **environment: str) -> Program:
        started.append(Program(broker, tmp_path, *topics, **environment))
        return started[-1]

    yield start
    for program in started:
        program.kill()


def test_kill_loses_and_doubles_nothing(broker, topic, run, tmp_path):
    topics = topic("in", partitions=2), topic("copy", partitions=2), topic("counts", partitions=2)
    sent = records(600)
    broker.produce(topics[0], sent)
    name = f"killed-{topics[0]}"
    halted = run(name, *topics, TIDEMILL_FAILPOINT=f"{FAILPOINTS[1]}:5:kill")
    assert halted.wait() not in (0, None)
    before = group_total(broker, name)
    assert 0 < before < 600, "the end must come to an app at work"
    at_work = run(name, *topics)
    until(lambda: group_total(broker, name) > before, 120)
    at_work.kill()
    assert group_total(broker, name) < 600, "the kill must hit an app at work"
    assert run(name, *topics).wait() == 0, (tmp_path / "out.log").read_text()[-2000:]
    check(broker, sent, *topics[1:], f"{name}-per-key-changelog")
    assert group_total(broker, name) == 600


@pytest.mark.fault
@pytest.mark.parametrize("seed", range(3))
def test_random_kills_lose_and_double_nothing(broker, topic, run, seed):
    chance = random.Random(seed)
    topics = topic("in", partitions=2), topic("copy", partitions=2), topic("counts", partitions=2)
    sent = records(3000)
    broker.produce(topics[0], sent)
    name = f"random-{seed}-{topics[0]}"
    for _ in range(4):
        before = group_total(broker, name)
        point = f"{chance.choice(FAILPOINTS)}:{chance.randint(1, 40)}:kill"
        program = run(name, *topics, TIDEMILL_FAILPOINT=chance.choice((point, "")))
        deadline = time.monotonic() + 60
        while program.process.poll() is None and time.monotonic() < deadline:
            if group_total(broker, name) > before:
                time.sleep(chance.expovariate(1.0))
                break
            time.sleep(0.1)
        program.kill()
    assert run(name, *topics).wait(240) == 0
    check(broker, sent, *topics[1:], f"{name}-per-key-changelog")
