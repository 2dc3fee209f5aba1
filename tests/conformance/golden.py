"""The golden data: answers of the library to untyped scenarios, read in the typed form of ours."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from conformance.cases import Case, Form
from oracle.functions import text
from oracle.spec import Record

_FOLDER = Path(__file__).parent / "golden"
_FAILED = "EXC"


@cache
def golden_entries() -> dict[str, list[Any]]:
    """Every entry, by its name."""
    entries: dict[str, list[Any]] = {}
    for path in sorted(_FOLDER.glob("*.json")):
        entries |= json.loads(path.read_text())
    return entries


def golden_steps(case: Case) -> tuple[tuple[Record, ...], ...]:
    """The output of every step of a case, as the golden data has it; a step that failed is left out."""
    assert case.golden is not None
    rows = [row for row in golden_entries()[case.golden] if row[0] != _FAILED]
    return tuple(tuple(_record(record, case) for record in output) for _, output in rows)


def golden_failed(case: Case) -> bool:
    assert case.golden is not None
    return any(row[0] == _FAILED for row in golden_entries()[case.golden])


def _record(written: list[Any], case: Case) -> Record:
    key, value, ts, *headers = written
    return Record(
        "out",
        tuple(key) if isinstance(key, list) else key,
        None if value is None else _typed(value, case.form),
        ts,
        tuple((name, content) for name, content in headers[0]) if headers else (),
    )


def _typed(value: Any, form: Form) -> Any:
    match form:
        case "plain":
            return value
        case "cat":
            return "".join(f"+{text(part)}" for part in value)
        case "joined":
            return "".join(text(part) for part in value)
        case "pair":
            return _pair(value)


def _pair(value: Any) -> str:
    if isinstance(value, list):
        left, right = value
        return f"[{_pair(left)},{_pair(right)}]"
    return text(value.get("fk")) if isinstance(value, dict) else text(value)
