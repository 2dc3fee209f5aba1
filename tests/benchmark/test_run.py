"""The benchmark's harness at work: tiny backlogs through real programs, with the answers checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.broker import Broker
from bench.data import INPUT
from bench.drain import Lab, Task
from bench.systems import ALOS, EOS, SYSTEMS
from bench.workloads import WORKLOADS
from tidemill.kafka.embedded import Cluster


@pytest.fixture
def lab(kafka: Cluster, tmp_path: Path) -> Iterator[Lab]:
    with Broker(tmp_path, kafka) as broker:
        yield Lab(broker, tmp_path)
        broker.delete(topic for topic in broker.topics() if topic.startswith(INPUT))


@pytest.mark.bench
def test_a_backlog_is_drained_measured_and_checked(lab: Lab) -> None:
    task = Task(WORKLOADS["W2"], SYSTEMS["tidemill"], ALOS, records=3000, keys=100, timeout=120)
    result = lab.drain(task)
    assert result.error is None
    assert result.total_rate > 0
    assert result.peak_rss > 100 << 20
    assert result.samples[-1].done == 3000
    assert not [topic for topic in lab.broker.topics() if "tidemill-w2" in topic]


@pytest.mark.bench
@pytest.mark.parametrize("system", list(SYSTEMS))
@pytest.mark.parametrize("workload", list(WORKLOADS))
@pytest.mark.parametrize("guarantee", [ALOS, EOS])
def test_every_system_gives_the_right_answer(lab: Lab, workload: str, system: str, guarantee: str) -> None:
    if not SYSTEMS[system].can(workload, guarantee):
        pytest.skip("has no means for this")
    result = lab.drain(Task(WORKLOADS[workload], SYSTEMS[system], guarantee, 4000, 200, timeout=120))
    assert result.error is None
