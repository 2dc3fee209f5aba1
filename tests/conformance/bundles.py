"""Scenarios that one query answers together: to start a query costs more than to run a scenario."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, settings

from conformance.templates import TEMPLATES
from oracle.spec import Advance, Answer, Scenario
from tidemill.errors import TidemillError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SIZE = 20
"""How many scenarios share a query."""


class Bundles:
    """Tidemill's answers to scenarios, found a bundle at a time when the first of it is asked for."""

    def __init__(
        self, scenarios: Iterable[Scenario], alone: Callable[[Scenario], bool] | None = None
    ) -> None:
        self._alone = alone or _must_be_alone
        self._scenarios = list(scenarios)
        self._bundles: dict[str, list[Scenario]] | None = None
        self._answers: dict[str, Answer] = {}

    def __getitem__(self, scenario: Scenario) -> Answer:
        name = scenario.name
        if name not in self._answers:
            self._answers |= _answered(self._of(scenario))
        return self._answers[name]

    def _of(self, scenario: Scenario) -> list[Scenario]:
        if self._alone(scenario):
            return [scenario]
        if self._bundles is None:
            self._bundles = _bundled(s for s in self._scenarios if not self._alone(s))
        return self._bundles[scenario.name]


def answers_together(scenarios: Sequence[Scenario]) -> list[Answer]:
    """Tidemill's answers to scenarios of one configuration, a bundle at a time."""
    from conformance.tidemill_runner import run_tidemill, run_together

    found: list[Answer] = []
    for start in range(0, len(scenarios), SIZE):
        part = scenarios[start : start + SIZE]
        if any(_must_be_alone(scenario) for scenario in part):
            found += [run_tidemill(scenario) for scenario in part]
        else:
            found += run_together(part)
    return found


def drawn(template: str, examples: int, *, same_every_time: bool) -> list[Scenario]:
    """Random scenarios of a template."""
    found: list[Scenario] = []

    @settings(
        max_examples=examples,
        derandomize=same_every_time,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(TEMPLATES[template].scenarios())
    def draw(scenario: Scenario) -> None:
        found.append(scenario)

    draw()
    return found


def smallest(scenario: Scenario, differs: Callable[[Scenario], bool], tries: int = 16) -> Scenario:
    """The scenario without the steps it does not need to differ, as far as some tries get."""
    position = 0
    while position < len(scenario.steps) and tries > 0 and len(scenario.steps) > 1:
        steps = scenario.steps[:position] + scenario.steps[position + 1 :]
        fewer = Scenario(scenario.name, scenario.sinks, steps, scenario.config, scenario.compare_headers)
        tries -= 1
        if differs(fewer):
            scenario = fewer
        else:
            position += 1
    return scenario


def _answered(scenarios: list[Scenario]) -> dict[str, Answer]:
    from conformance.tidemill_runner import run_tidemill, run_together

    if len(scenarios) > 1 and "TIDEMILL_ALONE" not in os.environ:
        try:
            answers = run_together(scenarios)
            return {scenario.name: answer for scenario, answer in zip(scenarios, answers, strict=True)}
        except TidemillError:
            pass  # alone, each one shows by itself what is the matter
    return {scenario.name: run_tidemill(scenario) for scenario in scenarios}


def _must_be_alone(scenario: Scenario) -> bool:
    """Clocks belong to the driver, and a processor's query runs a batch for every record anyway."""
    return any(isinstance(step, Advance) for step in scenario.steps)


def _bundled(scenarios: Iterable[Scenario]) -> dict[str, list[Scenario]]:
    """Scenarios that may share a query: of one configuration, and of one shape as the engine sees it."""
    from conformance.tidemill_runner import build_topology
    from tidemill.engine.stateless import is_stateless
    from tidemill.engine.steps import physical_plan

    open_: dict[object, list[Scenario]] = {}
    bundles: dict[str, list[Scenario]] = {}
    for scenario in scenarios:
        topology = build_topology(scenario)
        plan = physical_plan(topology)
        kind = (scenario.config.cache, is_stateless(topology), bool(plan.python), plan.depth)
        bundle = open_.setdefault(kind, [])
        bundle.append(scenario)
        bundles[scenario.name] = bundle
        if len(bundle) == SIZE:
            del open_[kind]
    return bundles
