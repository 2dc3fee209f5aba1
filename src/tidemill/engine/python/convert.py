"""Values as Arrow hands them over, as users meet them, and back: structs are dicts, window keys Windowed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    TimestampType,
)

from tidemill.serde.windowed import Windowed

Convert = Callable[[Any], Any]
_PLAIN: dict[type[DataType], type | tuple[type, ...]] = {
    BinaryType: (bytes, bytearray, memoryview),
    BooleanType: bool,
    ByteType: int,
    DateType: date,
    DecimalType: (Decimal, int),
    IntegerType: int,
    LongType: int,
    ShortType: int,
    StringType: str,
    TimestampType: datetime,
}
"""What Python values a type takes; Arrow's own complaints do not name the step."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_windowed(type_: DataType) -> bool:
    """Whether a type is the key of a windowed table."""
    return (
        isinstance(type_, StructType)
        and type_.names == ["key", "start", "end"]
        and all(isinstance(type_[name].dataType, TimestampType) for name in ("start", "end"))
    )


def reader(type_: DataType) -> Convert:
    """From Arrow's Python values to the user's."""
    match type_:
        case StructType() if is_windowed(type_):
            key = reader(type_["key"].dataType)
            return _unless_none(
                lambda v: Windowed(key(v["key"]), _millis(v["start"]) or 0, _millis(v["end"]))
            )
        case StructType():
            fields = [(field.name, reader(field.dataType)) for field in type_]
            return _unless_none(lambda v: {name: convert(v[name]) for name, convert in fields})
        case ArrayType():
            element = reader(type_.elementType)
            return _unless_none(lambda v: [element(item) for item in v])
        case MapType():
            first, second = reader(type_.keyType), reader(type_.valueType)
            return _unless_none(lambda v: {first(k): second(x) for k, x in v})
        case _:
            return _same


def writer(type_: DataType) -> Convert:
    """From the user's values to what Arrow takes for the type."""
    match type_:
        case StructType() if is_windowed(type_):
            key = writer(type_["key"].dataType)
            return _unless_none(
                lambda v: {"key": key(v.key), "start": _timestamp(v.start), "end": _timestamp(v.end)}
            )
        case StructType():
            fields = [(field.name, writer(field.dataType)) for field in type_]
            return _unless_none(lambda v: _struct(fields, v))
        case ArrayType():
            element = writer(type_.elementType)
            return _unless_none(lambda v: [element(item) for item in v])
        case MapType():
            first, second = writer(type_.keyType), writer(type_.valueType)
            return _unless_none(lambda v: [(first(k), second(x)) for k, x in v.items()])
        case FloatType() | DoubleType():
            return _checked(type_, (int, float), float)
        case _ if type(type_) in _PLAIN:
            return _checked(type_, _PLAIN[type(type_)])
        case _:
            return _same


def _checked(type_: DataType, allowed: type | tuple[type, ...], convert: Convert | None = None) -> Convert:
    name = type_.simpleString()

    def checked(value: Any) -> Any:
        if not isinstance(value, allowed):
            raise TypeError(
                f"{value!r} ({type(value).__name__}) is no {name}; say what is forwarded by value="
            )
        return value if convert is None else convert(value)

    return _unless_none(checked)


def _struct(fields: list[tuple[str, Convert]], value: Any) -> dict[str, Any]:
    match value:
        case Mapping():
            known = value
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            known = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        case tuple() | list():
            known = dict(zip((name for name, _ in fields), value, strict=True))
        case _ if callable(dump := getattr(value, "model_dump", None)):
            known = dump()
        case _:
            raise TypeError(
                f"{type(value).__name__} is no struct with the fields {', '.join(n for n, _ in fields)}"
            )
    return {name: convert(known.get(name)) for name, convert in fields}


def _unless_none(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _same(value: Any) -> Any:
    return value


def _millis(time: datetime | None) -> int | None:
    return None if time is None else (time - _EPOCH) // timedelta(milliseconds=1)


def _timestamp(millis: int | None) -> datetime | None:
    return None if millis is None else _EPOCH + timedelta(milliseconds=millis)
