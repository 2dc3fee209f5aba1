"""The fault matrix: every case leaves the output as if nothing had happened, or says why it stops."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fault.cases import BY_NAME, CASES, SAMPLE, Case

SEEDS = (1,)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" not in metafunc.fixturenames:
        return
    wanted = metafunc.config.getoption("--case", None)
    seed = metafunc.config.getoption("--seed", None)
    cases = [BY_NAME[wanted]] if wanted else list(CASES)
    seeds = SEEDS if seed is None else (seed,)
    pairs = [(case, number) for number in seeds for case in cases]
    # Those of one life next to each other.
    pairs.sort(key=lambda pair: (pair[1], pair[0].world, str(sorted(pair[0].apps.items())), pair[0].ends))
    metafunc.parametrize(
        ("case", "seed"),
        [
            pytest.param(case, number, id=f"{case.name}-{number}", marks=_marks(case, number))
            for case, number in pairs
        ],
    )


def _marks(case: Case, seed: int) -> list[pytest.MarkDecorator]:
    sampled = case.name in SAMPLE and seed == SEEDS[0]
    return [pytest.mark.timeout(900), pytest.mark.fault_sample if sampled else pytest.mark.fault]


def test_case(strike: Callable[[Case, int], None], case: Case, seed: int) -> None:
    strike(case, seed)
