"""Tidemill says what Kafka Streams says: to every recorded scenario, and to random ones."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from conformance.cases import Case
from conformance.recorded import recorded_answer
from conformance.scenarios import CASES
from conformance.strategies import FLUSH_KEY
from conformance.templates import TEMPLATES
from oracle.compare import Steps, compare, compare_final
from oracle.driver import run_oracle

if TYPE_CHECKING:
    from oracle.spec import Answer, Scenario

EXAMPLES = int(os.environ.get("TIDEMILL_EXAMPLES", "20"))
"""How many random inputs `make conformance` gives every kind of topology."""


def _tidemill(scenario: Scenario) -> Answer:
    from conformance.tidemill_runner import run_tidemill

    return run_tidemill(scenario)


def _where_it_failed(answer: Answer) -> list[int | None]:
    """Each engine has its own errors, but both must fail at the same place."""
    return [] if answer.failure is None else [answer.failure.step]


def _parameter(case: Case) -> object:
    deviates = pytest.mark.xfail(reason=case.deviation, raises=AssertionError, strict=True)
    return pytest.param(case, id=case.name, marks=[deviates] if case.deviation else [])


@pytest.mark.parametrize("case", [_parameter(case) for case in CASES])
def test_recorded_scenario(case: Case) -> None:
    expected, actual = recorded_answer(case.scenario), _tidemill(case.scenario)
    difference = compare(expected.steps, actual.steps, case.scenario)
    assert difference is None, difference
    assert _where_it_failed(expected) == _where_it_failed(actual)


def _agrees(name: str, scenario: Scenario) -> None:
    expected, actual = run_oracle(scenario).steps, _tidemill(scenario).steps
    if TEMPLATES[name].agreement == "final":
        # What closes everything at the end may itself be final at once, or not yet: that is no difference.
        difference = compare_final(_without_flush(expected), _without_flush(actual))
    else:
        difference = compare(expected, actual, scenario)
    assert difference is None, difference


def _without_flush(steps: Steps) -> Steps:
    return tuple(tuple(r for r in step if FLUSH_KEY not in (r.key, r.key and r.key[0])) for step in steps)


@pytest.mark.parametrize("name", TEMPLATES)
@settings(max_examples=1, derandomize=True, deadline=None, phases=[Phase.generate], database=None)
@given(data=st.data())
def test_random_scenario(name: str, data: st.DataObject) -> None:
    _agrees(name, data.draw(TEMPLATES[name].scenarios()))


@pytest.mark.conformance
@pytest.mark.parametrize("name", TEMPLATES)
@settings(max_examples=EXAMPLES, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_many_random_scenarios(name: str, data: st.DataObject) -> None:
    _agrees(name, data.draw(TEMPLATES[name].scenarios()))
