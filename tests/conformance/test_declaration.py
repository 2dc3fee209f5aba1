"""Every scenario can be declared in Tidemill, and what the library refuses to build is refused here too."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.cases import Case
from conformance.recorded import recorded_answer
from conformance.scenarios import CASES
from conformance.templates import TEMPLATES
from conformance.tidemill_runner import build_topology
from tidemill.errors import TidemillError


def _refused(case: Case) -> bool:
    failure = recorded_answer(case.scenario).failure
    return failure is not None and failure.step is None


@pytest.mark.parametrize("case", [c for c in CASES if not _refused(c)], ids=lambda case: case.name)
def test_scenario_can_be_declared(case: Case) -> None:
    topology = build_topology(case.scenario)
    assert topology.describe()


@pytest.mark.parametrize("case", [c for c in CASES if _refused(c)], ids=lambda case: case.name)
def test_scenario_is_refused_as_in_the_library(case: Case) -> None:
    with pytest.raises(TidemillError):
        build_topology(case.scenario)


@pytest.mark.parametrize("name", TEMPLATES)
@settings(max_examples=5, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_drawn_scenario_can_be_declared(name: str, data: st.DataObject) -> None:
    assert build_topology(data.draw(TEMPLATES[name].scenarios())).describe()
