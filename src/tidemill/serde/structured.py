"""Serdes of structured text: JSON, CSV and XML."""

from __future__ import annotations

import base64
import dataclasses
import json as jsons
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from tidemill.serde.base import Serde
from tidemill.serde.schema import ddl_of


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSerde(Serde):
    """A value as JSON text."""

    name: str = "json"

    def _to_bytes(self, value: Any) -> bytes:
        text = jsons.dumps(_plain(value), separators=(",", ":"), ensure_ascii=False, default=_text)
        return text.encode()

    def _from_bytes(self, data: bytes) -> Any:
        return jsons.loads(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvSerde(Serde):
    """A struct as one line of separated fields."""

    name: str = "csv"
    delimiter: str = ","


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlSerde(Serde):
    """A struct as one XML element."""

    name: str = "xml"
    row_tag: str = "ROW"


def json(schema: Any) -> JsonSerde:
    """JSON of a schema: a DDL string, a Spark type, a dataclass, a pydantic model or a Python type.

    >>> json("city STRING, amount DOUBLE").encode({"city": "Oslo", "amount": 2.5})
    b'{"city":"Oslo","amount":2.5}'
    """
    return JsonSerde(schema=ddl_of(schema))


def csv(schema: Any, *, delimiter: str = ",") -> CsvSerde:
    """One CSV line per value.

    >>> csv("city STRING, amount DOUBLE", delimiter=";")
    CsvSerde(name='csv', schema='struct<city STRING, amount DOUBLE>', delimiter=';')
    """
    return CsvSerde(schema=ddl_of(schema), delimiter=delimiter)


def xml(schema: Any, *, row_tag: str = "ROW") -> XmlSerde:
    """One XML element per value.

    >>> xml("city STRING", row_tag="order").row_tag
    'order'
    """
    return XmlSerde(schema=ddl_of(schema), row_tag=row_tag)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if callable(dump := getattr(value, "model_dump", None)):
        return dump()
    return value


def _text(value: Any) -> Any:
    """What JSON has no form for, in Spark's own: ISO times, base64 bytes, numbers as they are."""
    match value:
        case datetime() | date():
            return value.isoformat()
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case Decimal():
            return float(value)
        case Enum():
            return value.value
        case UUID():
            return str(value)
        case set() | frozenset():
            return sorted(value)
    plain = _plain(value)
    if plain is value:
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return plain
