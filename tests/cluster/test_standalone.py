"""The same app on a standalone Spark cluster: exact results, also when an executor is killed in a batch."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.standalone import Standalone
from runtime.broker import Broker, until
from runtime.test_exactly_once import check, group_total, records
from tidemill.kafka.embedded import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
PROGRAM = Path(__file__).with_name("program.py")


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with Standalone(tmp_path_factory.mktemp("standalone")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def broker(kafka: Cluster) -> Broker:
    return Broker(kafka)


class Run:
    """The program on the cluster; killed if the test ends before it does."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._log = folder / "out.log"
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(PROGRAM), *words], env=os.environ, stdout=log, stderr=log
            )

    def wait(self, standalone: Standalone, seconds: float = 240.0) -> None:
        code = self.process.wait(seconds)
        assert code == 0, f"{self._log.read_text()[-3000:]}\n{standalone.log()}"

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)


def test_an_app_gives_the_same_results_on_a_cluster(standalone, broker, topic, tmp_path):
    topics = topic("in", partitions=2), topic("copy", partitions=2), topic("counts", partitions=2)
    sent = records(300)
    broker.produce(topics[0], sent)
    name = f"clustered-{topics[0]}"
    run = Run(tmp_path, standalone.url, broker.servers, str(tmp_path), name, "", *topics)
    try:
        run.wait(standalone)
    finally:
        run.end()
    check(broker, sent, *topics[1:])
    assert group_total(broker, name) == 300


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.parametrize(("count", "kills"), [(800, 1), (6000, 4)], ids=["once", "often"])
def test_executor_killed_in_a_batch_loses_and_doubles_nothing(
    standalone, broker, topic, tmp_path, count, kills
):
    topics = topic("in", partitions=2), topic("copy", partitions=2), topic("counts", partitions=2)
    sent = records(count)
    broker.produce(topics[0], sent)
    name = f"clustered-{topics[0]}"
    # Records are sent, their transaction is open, and the task sleeps: that is when its executor is killed.
    failpoint = ",".join(f"after_produce_before_txn_commit:{nth}:sleep=4000" for nth in range(4, 40, 8))
    run = Run(tmp_path, standalone.url, broker.servers, str(tmp_path), name, failpoint, *topics)
    try:
        for _ in range(kills):
            until(lambda: group_total(broker, name) > 0 or run.process.poll() is not None, 240)
            before = _stalled(broker, name, run)
            assert 0 < before < count, "the kill must hit an app at work"
            standalone.kill_one()
            until(lambda before=before: group_total(broker, name) > before, 240)
        run.wait(standalone)
    finally:
        run.end()
    check(broker, sent, *topics[1:])
    assert group_total(broker, name) == count


def _stalled(broker, name: str, run: Run) -> int:
    """The app's progress once it has not moved for a while, as a batch sleeps."""
    last, since = group_total(broker, name), time.monotonic()
    while time.monotonic() - since < 1.5:
        assert run.process.poll() is None, "it was over before the kill"
        now = group_total(broker, name)
        if now != last:
            last, since = now, time.monotonic()
        time.sleep(0.1)
    return last
