"""The matrix can fail: with a safeguard taken out, the same faults are found to double records."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fault import faults
from fault.cases import SMALL, Case
from fault.checks import Violation, check_complete
from fault.life import Life
from fault.workloads import WORKLOADS
from tidemill import App, StreamsBuilder
from tidemill.kafka.embedded import Cluster

AT_LEAST_ONCE = {"processing_guarantee": "at_least_once"}


@pytest.fixture
def failpoint(spark: Any) -> Iterator[Callable[[str], None]]:
    """Sets failpoints of the shared Spark; none are left behind."""
    system, points = spark._jvm.System, spark._jvm.io.tidemill.sink.Failpoint

    def arm(text: str) -> None:
        points.reset()
        system.setProperty("tidemill.failpoint", text)

    yield arm
    system.clearProperty("tidemill.failpoint")


def run_here(life: Life, spark: Any) -> None:
    """Run the app of a life in this process, to the end of its input."""
    builder, streams = StreamsBuilder(), {}
    for name in life.apps["main"]:
        WORKLOADS[name].build(builder, streams, life.topic)
    settings = {name: value for name, value in life.settings.items() if name not in _OF_A_PROCESS}
    app = App(
        life.application_id("main"),
        builder,
        bootstrap_servers=life.servers,
        spark=spark,
        state_dir=life.state_dir,
        **settings,
    )
    app.run(until="now")
    assert app.metrics()["restarts"] == 1
    life.drain()


_OF_A_PROCESS = ("spark_conf", "num_stream_threads")


@pytest.mark.fault_sample
@pytest.mark.parametrize(
    ("fault", "settings", "broken"),
    [
        ("after_txn_commit_before_sink_ack:2:raise", {}, None),
        ("after_txn_commit_before_sink_ack:2:raise,ignore_markers", {}, "I2"),
        ("after_sink_ack_before_commit_log:2:raise", AT_LEAST_ONCE, "I2"),
    ],
    ids=["all-safeguards", "markers-ignored", "no-transactions"],
)
def test_without_its_safeguard_a_failed_batch_is_doubled(
    kafka: Cluster,
    spark: Any,
    failpoint: Callable[[str], None],
    tmp_path: Path,
    fault: str,
    settings: dict[str, Any],
    broken: str | None,
) -> None:
    life = Life(kafka, tmp_path / "life", SMALL, seed=1, settings=settings)
    life.feed(200)
    failpoint(fault)
    run_here(life, spark)
    for workload in life.workloads:
        if broken is None:
            check_complete(workload, life.ledger, life.output(workload.output))
        else:
            with pytest.raises(Violation, match=broken):
                check_complete(workload, life.ledger, life.output(workload.output))


@pytest.mark.fault
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("point", "settings", "environment"),
    [
        ("after_txn_commit_before_sink_ack", {}, {"TIDEMILL_FAILPOINT": "ignore_markers"}),
        ("after_sink_ack_before_commit_log", AT_LEAST_ONCE, {}),
    ],
    ids=["markers-ignored", "no-transactions"],
)
def test_without_its_safeguard_a_crash_doubles_records(
    lives: Callable[[Case, int], Life], point: str, settings: dict[str, Any], environment: dict[str, str]
) -> None:
    case = Case(
        f"mutation-{point}",
        lambda life, _: faults.crash_at(life, point, 2),
        SMALL,
        settings=settings,
    )
    life = lives(case, 1)
    life.dead = True
    life.environment = environment
    with pytest.raises(Violation, match="I2"):
        case.strike(life, random.Random(1))
