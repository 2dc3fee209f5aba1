"""Scenarios and answers as JSON, one line per step, for the files of recorded answers."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from oracle import spec

_CLASSES = {
    name: value
    for name, value in vars(spec).items()
    if isinstance(value, type) and dataclasses.is_dataclass(value)
}


def to_json(value: Any) -> Any:
    """Plain data; an object is a dict that starts with its class and leaves out what is at its default."""
    if dataclasses.is_dataclass(value):
        fields = {
            field.name: to_json(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if getattr(value, field.name) != _default(field)
        }
        return {"is": type(value).__name__, **fields}
    if isinstance(value, tuple | list):
        return [to_json(part) for part in value]
    return value


def from_json(value: Any) -> Any:
    """The object again; lists come back as tuples."""
    if isinstance(value, list):
        return tuple(from_json(part) for part in value)
    if isinstance(value, dict) and "is" in value:
        fields = {name: from_json(part) for name, part in value.items() if name != "is"}
        return _CLASSES[value["is"]](**fields)
    return value


def pretty(data: dict[str, Any], width: int = 110) -> str:
    """JSON that breaks only where a line would get too long, so that a reviewer can read it."""
    return _lines(data, 0, width) + "\n"


def _lines(data: Any, depth: int, width: int) -> str:
    flat = json.dumps(data, ensure_ascii=False)
    if len(flat) + 2 * depth <= width or not isinstance(data, dict | list) or not data:
        return flat
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(data, dict):
        parts = [f"{json.dumps(name)}: {_lines(part, depth + 1, width)}" for name, part in data.items()]
        return "{\n" + ",\n".join(inner + part for part in parts) + f"\n{outer}}}"
    parts = [_lines(part, depth + 1, width) for part in data]
    return "[\n" + ",\n".join(inner + part for part in parts) + f"\n{outer}]"


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
