"""Tidemill says what Kafka Streams says: to every recorded scenario, and to random ones."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import pytest

from conformance.bundles import Bundles, answers_together, drawn, smallest
from conformance.cases import Case
from conformance.recorded import recorded_answer
from conformance.scenarios import CASES, FAMILIES
from conformance.strategies import FLUSH_KEY
from conformance.templates import TEMPLATES
from oracle.compare import Steps, compare, compare_final
from oracle.driver import run_oracle
from oracle.spec import Input
from oracle.written import to_json

if TYPE_CHECKING:
    from oracle.spec import Answer, Scenario

EXAMPLES = int(os.environ.get("TIDEMILL_EXAMPLES", "20"))
"""How many random inputs `make conformance` gives every kind of topology."""

_COUNTED = ("aggregate", "windows", "sliding", "session", "emit", "group_table", "table", "suppress")
"""Families whose dropped records both engines count alike; in others the library's stores count, too."""


def _fails(scenario: Scenario) -> bool:
    return recorded_answer(scenario).failure is not None


def _clock_moves(scenario: Scenario) -> bool:
    return any(hasattr(step, "millis") for step in scenario.steps)


_RECORDED = Bundles((case.scenario for case in CASES), lambda each: _fails(each) or _clock_moves(each))


def _where_it_failed(answer: Answer) -> list[int | None]:
    """Each engine has its own errors, but both must fail at the same place."""
    return [] if answer.failure is None else [answer.failure.step]


def _parameter(family: str, case: Case) -> object:
    deviates = pytest.mark.xfail(reason=case.deviation, raises=AssertionError, strict=True)
    return pytest.param(family, case, id=case.name, marks=[deviates] if case.deviation else [])


@pytest.mark.parametrize(
    ("family", "case"), [_parameter(family, case) for family, cases in FAMILIES.items() for case in cases]
)
def test_recorded_scenario(family: str, case: Case) -> None:
    expected, actual = recorded_answer(case.scenario), _RECORDED[case.scenario]
    difference = compare(expected.steps, actual.steps, case.scenario)
    assert difference is None, difference
    assert _where_it_failed(expected) == _where_it_failed(actual)
    if family in _COUNTED and expected.failure is None:
        assert expected.dropped == actual.dropped


def _difference(name: str, scenario: Scenario, actual: Answer) -> str | None:
    expected = run_oracle(scenario).steps
    if TEMPLATES[name].agreement == "final":
        # What closes everything at the end may itself be final at once, or not yet: that is no difference.
        return compare_final(_without_flush(expected, scenario), _without_flush(actual.steps, scenario))
    return compare(expected, actual.steps, scenario)


def _without_flush(steps: Steps, scenario: Scenario) -> Steps:
    times = [step.ts for step in scenario.steps if isinstance(step, Input) and step.key == FLUSH_KEY]
    begin = min(times, default=math.inf)
    return tuple(tuple(r for r in step if r.ts < begin) for step in steps)


@cache
def _sample() -> dict[str, Scenario]:
    """A scenario of every template, always the same: the longest of a few, as the first is trivial."""
    found = {name: drawn(name, 4, same_every_time=True) for name in TEMPLATES}
    return {name: max(each, key=lambda scenario: len(scenario.steps)) for name, each in found.items()}


@cache
def _sampled() -> Bundles:
    return Bundles(_sample().values())


@pytest.mark.parametrize("name", TEMPLATES)
def test_random_scenario(name: str, record_property: Callable[[str, object], None]) -> None:
    scenario = _sample()[name]
    difference = _difference(name, scenario, _sampled()[scenario])
    assert difference is None, difference
    record_property("examples", 1)


@pytest.mark.conformance
@pytest.mark.parametrize("name", TEMPLATES)
def test_many_random_scenarios(name: str, record_property: Callable[[str, object], None]) -> None:
    scenarios = drawn(name, EXAMPLES, same_every_time=False)
    for scenario, answer in zip(scenarios, answers_together(scenarios), strict=True):
        if _difference(name, scenario, answer) is not None:
            least = smallest(scenario, lambda each: _alone(name, each) is not None)
            pytest.fail(f"{_alone(name, least)}\n{json.dumps(to_json(least))}")
    record_property("examples", len(scenarios))


def _alone(name: str, scenario: Scenario) -> str | None:
    return _difference(name, scenario, answers_together([scenario])[0])
