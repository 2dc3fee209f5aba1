"""Records of schemas: the same seed, start and schemas make the same records, byte by byte."""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tidemill.datagen.fields import Draw, Moment, field_of
from tidemill.datagen.schema import STRUCTS, Schema, ValueFormat
from tidemill.kafka.records import Format, Record, encode


@dataclass(frozen=True)
class Made:
    """A record, and when it is due: milliseconds since the start."""

    due: float
    record: Record


def make(
    schemas: Sequence[Schema], *, seed: int | str, start: int, keys: int | None = None
) -> Iterator[Made]:
    """Endless records of all schemas in the order they are due; `start` is in epoch milliseconds.

    >>> from tidemill.datagen.ready import READY
    >>> first = next(make([READY["numbers"]], seed=7, start=1_767_225_600_000))
    >>> first.record.topic, first.record.key, int.from_bytes(first.record.value), first.record.timestamp
    ('numbers', b'green', 89, 1767225599968)
    """
    streams = [_records(schema, f"{seed}:{schema.topic}", start, keys) for schema in schemas]
    return heapq.merge(*streams, key=lambda made: made.due)


def _records(schema: Schema, seed: str, start: int, keys: int | None) -> Iterator[Made]:
    chance = Random(seed)  # noqa: S311 -- data to look at, not secrets
    moment = Moment(chance)
    key = None if schema.key is None else field_of(schema.key, values=keys)
    draws = {name: field_of(text) for name, text in schema.fields.items()}
    for index in itertools.count():
        due = index * 1000 / schema.rate
        moment.index = index
        moment.time = max(1, start + int(due) - int(chance.random() * schema.out_of_order))
        record = _record(schema, moment, key, draws)
        if schema.broken and chance.random() < schema.broken and record.value:
            record = replace(record, value=record.value[: len(record.value) // 2])
        yield Made(due, record)


def _record(schema: Schema, moment: Moment, key: Draw | None, draws: dict[str, Draw]) -> Record:
    moment.row = row = {}
    name = None
    if key is not None:
        row["key"] = key(moment)
        name = str(row["key"]).encode()
    for field, draw in draws.items():
        row[field] = draw(moment)
    value = {field: row[field] for field in draws}
    return Record(_value(schema.format, value), name, timestamp=moment.time, topic=schema.topic)


def _value(form: ValueFormat, value: dict[str, Any]) -> bytes:
    if form not in STRUCTS:
        return encode(str(value["value"]), Format(form.value))
    if form is ValueFormat.csv:
        return ",".join(_cell(item) for item in value.values()).encode()
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _cell(value: Any) -> str:
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return f'"{text}"' if "," in text else text
