"""Brokers and lives for the fault matrix, its options, and the count of runs at the end."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fault.cases import Case
from fault.checks import Violation
from fault.faults import MissedError
from fault.life import Life
from fault.proxy import Proxy
from tidemill.kafka.embedded import Cluster

_TRIES = 3
_STRUCK, _BROKEN = "fault", "invariant"
"""What a test tells of its case: name, seed and number of runs; the invariant that was found broken."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--case", help="run this case of the fault matrix only")
    parser.addoption("--seed", type=int, default=None, help="with this seed")


@pytest.fixture(scope="module")
def fault_kafka() -> Iterator[Cluster]:
    """A broker that may be killed: not the one other tests use."""
    with Cluster(name="faults") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def proxied_kafka() -> Iterator[tuple[Cluster, Proxy]]:
    """A broker that names a proxy as its own address."""
    proxy = Proxy()
    config = {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{proxy.port}"}
    with Cluster(name="proxied", config=config) as cluster:
        proxy.target = int(cluster.bootstrap_servers.rpartition(":")[2])
        yield cluster, proxy
    proxy.close()


@pytest.fixture(scope="module")
def lives(request: pytest.FixtureRequest) -> Iterator[Callable[[Case, int], Life]]:
    """The life a case is to strike: the one its predecessor left, or a new one."""
    kept: dict[str, Life] = {}

    def find(case: Case, seed: int) -> Life:
        key = f"{case.world} {sorted(case.apps.items())} {case.settings} {seed}"
        life = kept.pop(key, None)
        if life is not None and (life.dead or case.ends):
            life.close()
            life = None
        for other in list(kept):  # one process at a time, for the sake of a small machine
            kept.pop(other).close()
        if life is None:
            life = _new_life(request, case, seed)
        kept[key] = life
        return life

    yield find
    for life in kept.values():
        life.close()


def _new_life(request: pytest.FixtureRequest, case: Case, seed: int) -> Life:
    folder = Path(tempfile.mkdtemp(prefix="tidemill-fault-"))
    settings: dict[str, Any] = dict(case.settings)
    if case.world == "secured":
        cluster = request.getfixturevalue("secure_kafka")
        client = cluster.client_config()
        config = {name: value for name, value in client.items() if name != "bootstrap.servers"}
        settings = {**settings, "config": config}
        return Life(
            cluster,
            folder,
            case.apps,
            seed=seed,
            settings=settings,
            client=client,
            servers=client["bootstrap.servers"],
        )
    if case.world == "proxied":
        cluster, proxy = request.getfixturevalue("proxied_kafka")
        life = Life(cluster, folder, case.apps, seed=seed, settings=settings)
        life.proxy = proxy
        return life
    return Life(request.getfixturevalue("fault_kafka"), folder, case.apps, seed=seed, settings=settings)


@pytest.fixture
def strike(
    lives: Callable[[Case, int], Life], record_property: Callable[[str, object], None]
) -> Callable[[Case, int], None]:
    """Let a case strike; one that missed is done again."""

    def run(case: Case, seed: int) -> None:
        print(f"case {case.name}, seed {seed}: python -m pytest tests/fault --case {case.name} --seed {seed}")
        record_property(_STRUCK, (case.name, seed, case.runs))
        chance = random.Random(f"{case.name}-{seed}")
        for left in range(_TRIES - 1, -1, -1):
            life = lives(case, seed)
            # Whatever happens from here on, a life that was not found in order is not used again.
            life.dead = True
            try:
                case.strike(life, chance)
            except MissedError:
                if not left:
                    raise
                continue
            except Violation as violation:
                record_property(_BROKEN, violation.invariant)
                raise
            life.dead = case.ends or life.app is None or not life.app.alive
            return

    return run


def pytest_terminal_summary(terminalreporter: Any) -> None:
    told = [
        (report.outcome, dict(report.user_properties))
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if report.when == "call" and _STRUCK in dict(report.user_properties)
    ]
    if not told:
        return
    struck = [(outcome, *properties[_STRUCK]) for outcome, properties in told]
    broken = [properties[_BROKEN] for _, properties in told if _BROKEN in properties]
    passed = [runs for outcome, _, _, runs in struck if outcome == "passed"]
    seeds = ", ".join(str(seed) for seed in sorted({seed for _, _, seed, _ in struck}))
    others = len(struck) - len(passed) - broken.count("I1") - broken.count("I2")
    case = next((name for outcome, name, _, _ in struck if outcome == "failed"), struck[0][1])
    for line in (
        f"fault matrix: {len(passed)} of {len(struck)} cases passed, seeds {seeds}",
        f"  {sum(passed)} fault runs (a run: one workload hit by one fault)",
        f"  cases with lost records: {broken.count('I1')}, with duplicated records: {broken.count('I2')},"
        f" failed otherwise: {others}",
        f"  one case again: python -m pytest tests/fault --case {case} --seed {struck[0][2]}",
    ):
        terminalreporter.write_line(line)
