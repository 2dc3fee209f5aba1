"""Recorded answers of the library, so that most tests need no Java.

`python -m conformance.recorded`, run in tests/, asks the library again.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from conformance.cases import Case
from oracle.spec import Answer, Failure, Input, Record, Scenario
from oracle.written import from_json, pretty, to_json

_FOLDER = Path(__file__).parent / "recorded"


class StaleError(LookupError):
    """The scenario has no recorded answer, or was changed since."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"no recorded answer for {name!r}: run `python -m conformance.recorded` in tests/")


def recorded_answer(scenario: Scenario) -> Answer:
    """What the library said to exactly this scenario when it was recorded."""
    entry = _entries().get(scenario.name)
    if entry is None or from_json(entry["scenario"]) != _without_steps(scenario):
        raise StaleError(scenario.name)
    if [line["in"] for line in entry["steps"]] != [_action(step) for step in scenario.steps]:
        raise StaleError(scenario.name)
    failure = Failure(*entry["failure"]) if "failure" in entry else None
    outputs = (line["out"] for line in entry["steps"] if "out" in line)
    steps = tuple(tuple(_record(record) for record in records) for records in outputs)
    return Answer(steps, entry["dropped"], failure)


def record(family: str, answers: list[tuple[Case, Answer]]) -> Path:
    """Writes the answers of one family of scenarios."""
    _FOLDER.mkdir(exist_ok=True)
    path = _FOLDER / f"{family}.json"
    path.write_text(pretty({case.name: _entry(case.scenario, answer) for case, answer in answers}))
    return path


def _entry(scenario: Scenario, answer: Answer) -> dict[str, Any]:
    steps = []
    for index, step in enumerate(scenario.steps):
        line: dict[str, Any] = {"in": _action(step)}
        if index < len(answer.steps):
            line["out"] = [_written(record) for record in answer.steps[index]]
        steps.append(line)
    entry = {"scenario": to_json(_without_steps(scenario)), "dropped": answer.dropped, "steps": steps}
    if answer.failure is not None:
        entry["failure"] = [answer.failure.step, answer.failure.error]
    return entry


def _without_steps(scenario: Scenario) -> Scenario:
    return Scenario(scenario.name, scenario.sinks, (), scenario.config, scenario.compare_headers)


def _action(step: Any) -> list[Any]:
    if not isinstance(step, Input):
        return [step.millis]
    written = [step.topic, step.key, step.value, step.ts]
    return [*written, to_json(step.headers)] if step.headers else written


def _written(record: Record) -> list[Any]:
    key = list(record.key) if isinstance(record.key, tuple) else record.key
    written = [record.topic, key, record.value, record.ts]
    return [*written, to_json(record.headers)] if record.headers else written


def _record(written: list[Any]) -> Record:
    topic, key, value, ts, *headers = written
    key = tuple(key) if isinstance(key, list) else key
    return Record(topic, key, value, ts, *(from_json(part) for part in headers))


@cache
def _entries() -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for path in sorted(_FOLDER.glob("*.json")):
        entries |= json.loads(path.read_text())
    return entries


def main() -> None:
    """Asks the library again about every scenario."""
    from conformance.scenarios import FAMILIES
    from oracle.driver import run_oracle

    for family, cases in FAMILIES.items():
        path = record(family, [(case, run_oracle(case.scenario)) for case in cases])
        print(f"{path.name}: {len(cases)} scenarios")


if __name__ == "__main__":
    main()
