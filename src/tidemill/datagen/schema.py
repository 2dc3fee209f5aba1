"""A schema: what the records of a topic look like, how fast they come and how far out of order."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from tidemill.errors import NotFound, UsageError


class ValueFormat(StrEnum):
    """How a value is written: a struct of all fields, or the one field `value`."""

    json = "json"
    csv = "csv"
    string = "string"
    int = "int"
    long = "long"
    float = "float"
    double = "double"


STRUCTS = (ValueFormat.json, ValueFormat.csv)


@dataclass(frozen=True, kw_only=True)
class Schema:
    """Records of one topic. Fields are written in the language of `tidemill.datagen.fields`.

    >>> schema = Schema(topic="orders", key="sequence(o-1)", fields={"amount": "uniform(1, 9)"})
    >>> schema.format, schema.rate
    (<ValueFormat.json: 'json'>, 10.0)
    """

    topic: str
    key: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    format: ValueFormat = ValueFormat.json
    rate: float = 10.0
    out_of_order: int = 0
    """How many milliseconds a record's time may lie before that of the one written before it."""
    broken: float = 0.0
    """The share of values that are cut off in the middle, for programs that must live with it."""
    about: str = ""

    def __post_init__(self) -> None:
        if not self.fields:
            raise UsageError(f"the records of `{self.topic}` have no field", remedy='give --field "name=..."')
        if self.format not in STRUCTS and "value" not in self.fields:
            raise UsageError(
                f"values of the format {self.format} are the field `value`, which is missing",
                where=self.topic,
                remedy='give --field "value=uniform(1, 100)", or the format json',
            )
        if self.rate <= 0:
            raise UsageError(f"the rate {self.rate} is not above zero", where=self.topic)


def load_schema(path: Path) -> Schema:
    """A schema from a TOML file: topic, key, format, rate, out_of_order, broken and a table `fields`."""
    from tidemill.time import milliseconds

    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotFound("there is no such schema file", where=str(path)) from error
    except OSError as error:
        raise UsageError(f"the schema cannot be read: {error.strerror}", where=str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the schema is not valid TOML: {error}", where=str(path)) from error
    known = {item.name for item in fields(Schema)}
    if strange := sorted(table.keys() - known):
        raise UsageError(
            f"a schema has no `{strange[0]}`",
            where=str(path),
            remedy=f"it has: {', '.join(sorted(known))}",
        )
    table.setdefault("topic", path.stem)
    table["out_of_order"] = milliseconds(table.get("out_of_order", 0), what="out_of_order")
    table["fields"] = {name: str(text) for name, text in table.get("fields", {}).items()}
    try:
        table["format"] = ValueFormat(table.get("format", "json"))
    except ValueError as error:
        raise UsageError(
            f"`{table['format']}` is no format", where=str(path), remedy=f"choose: {', '.join(ValueFormat)}"
        ) from error
    return Schema(**table)
