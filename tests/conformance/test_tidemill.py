"""Tidemill says what Kafka Streams says: to every recorded scenario, and to random ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.cases import Case
from conformance.recorded import recorded_answer
from conformance.scenarios import CASES
from conformance.templates import TEMPLATES
from oracle.compare import compare, compare_final
from oracle.driver import run_oracle

if TYPE_CHECKING:
    from oracle.spec import Answer, Scenario

pytest.importorskip("tidemill.testing.driver", reason="the test driver is not part of this build")


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


@pytest.mark.conformance
@pytest.mark.parametrize("name", TEMPLATES)
@settings(max_examples=20, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_random_scenario(name: str, data: st.DataObject) -> None:
    template = TEMPLATES[name]
    scenario = data.draw(template.scenarios())
    expected, actual = run_oracle(scenario).steps, _tidemill(scenario).steps
    if template.agreement == "final":
        difference = compare_final(expected, actual)
    else:
        difference = compare(expected, actual, scenario)
    assert difference is None, difference
