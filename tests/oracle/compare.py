"""Compares what two engines said, and shows the difference step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oracle.spec import Advance, Answer, Input, Record, Scenario

Steps = Sequence[Sequence[Record]]


def compare(expected: Steps, actual: Steps, scenario: Scenario | None = None) -> str | None:
    """None if every step gave the same records in the same order on each topic, else the difference."""
    if len(expected) == len(actual) and all(
        _by_topic(a) == _by_topic(b) for a, b in zip(expected, actual, strict=True)
    ):
        return None
    lines = [f"scenario {scenario.name}" if scenario else "the answers differ"]
    for index in range(max(len(expected), len(actual))):
        wanted = _shown(expected, index)
        got = _shown(actual, index)
        same = _same(expected, actual, index)
        lines.append(f"{' ' if same else '>'} {index:3} {_action(scenario, index)}")
        if same:
            lines.extend(f"          {record}" for record in wanted)
        else:
            lines.extend(f"        - {record}" for record in wanted)
            lines.extend(f"        + {record}" for record in got)
    lines.append("  (- expected, + actual)")
    return "\n".join(lines)


def compare_answers(expected: Answer, actual: Answer, scenario: Scenario | None = None) -> str | None:
    """`compare`, and both must fail at the same step with the same error, or not at all."""
    difference = compare(expected.steps, actual.steps, scenario)
    if expected.failure == actual.failure:
        return difference
    return f"{difference or ''}\nfailure: expected {expected.failure}, actual {actual.failure}".strip()


def final_table(steps: Steps) -> dict[tuple[str, Any], tuple[Any, int]]:
    """The table that the output adds up to: (topic, key) -> (value, timestamp); deleted rows are gone."""
    table: dict[tuple[str, Any], tuple[Any, int]] = {}
    for record in (record for step in steps for record in step):
        row = (record.topic, record.key)
        table.pop(row, None)
        if record.value is not None:
            table[row] = (record.value, record.ts)
    return table


def compare_final(expected: Steps, actual: Steps) -> str | None:
    """None if both outputs add up to the same table, in however many updates; else the rows that differ."""
    wanted, got = final_table(expected), final_table(actual)
    if wanted == got:
        return None
    lines = ["the final tables differ"]
    for row in sorted(wanted.keys() | got.keys(), key=str):
        if wanted.get(row) != got.get(row):
            topic, key = row
            lines.append(f"  {topic} {_text(key)}: expected {_row(wanted, row)}, actual {_row(got, row)}")
    return "\n".join(lines)


def _by_topic(step: Sequence[Record]) -> dict[str, list[Record]]:
    topics: dict[str, list[Record]] = {}
    for record in step:
        topics.setdefault(record.topic, []).append(record)
    return topics


def _same(expected: Steps, actual: Steps, index: int) -> bool:
    if index >= len(expected) or index >= len(actual):
        return False
    return _by_topic(expected[index]) == _by_topic(actual[index])


def _shown(steps: Steps, index: int) -> list[str]:
    if index >= len(steps):
        return ["(no such step)"]
    return [_record(record) for record in steps[index]] or ["(nothing)"]


def _record(record: Record) -> str:
    headers = f" {dict(record.headers)}" if record.headers else ""
    return f"{record.topic} {_text(record.key)} = {_text(record.value)} @{record.ts}{headers}"


def _action(scenario: Scenario | None, index: int) -> str:
    if scenario is None or index >= len(scenario.steps):
        return "step"
    match scenario.steps[index]:
        case Input(topic, key, value, ts):
            return f"{topic} {_text(key)} = {_text(value)} @{ts}"
        case Advance(millis):
            return f"wall clock +{millis}"


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, tuple):
        key, start, end = value
        return f"{key}[{start}..{end}]"
    return str(value)


def _row(table: dict[tuple[str, Any], tuple[Any, int]], row: tuple[str, Any]) -> str:
    if row not in table:
        return "no row"
    value, ts = table[row]
    return f"{_text(value)} @{ts}"
