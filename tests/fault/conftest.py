"""Brokers and lives for the fault matrix, its options, and the count of runs at the end."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fault.cases import Case
from fault.faults import MissedError
from fault.life import Life
from fault.proxy import Proxy
from tidemill.kafka.embedded import Cluster

_TRIES = 3
_tally: list[tuple[str, int, int]] = []


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
def strike(lives: Callable[[Case, int], Life]) -> Callable[[Case, int], None]:
    """Let a case strike; one that missed is done again."""

    def run(case: Case, seed: int) -> None:
        print(f"case {case.name}, seed {seed}: python -m pytest tests/fault --case {case.name} --seed {seed}")
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
            life.dead = case.ends or life.app is None or not life.app.alive
            _tally.append((case.name, seed, case.runs))
            return

    return run


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if _tally:
        runs = sum(runs for _, _, runs in _tally)
        terminalreporter.write_line(
            f"fault matrix: {len(_tally)} faults, {runs} runs passed (a run: one workload hit by one fault)"
        )
