"""The random scenarios themselves: the library accepts and answers whatever a template draws."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.templates import TEMPLATES
from oracle.driver import run_oracle
from oracle.spec import Input
from oracle.written import from_json, to_json


@pytest.mark.parametrize("name", TEMPLATES)
@settings(max_examples=5, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_library_answers_every_drawn_scenario(name: str, data: st.DataObject) -> None:
    scenario = data.draw(TEMPLATES[name].scenarios())
    assert all(isinstance(step, Input) and step.ts >= 0 for step in scenario.steps)
    assert from_json(to_json(scenario)) == scenario
    answer = run_oracle(scenario)
    assert answer.failure is None
    assert len(answer.steps) == len(scenario.steps)
