"""Schemas: one Spark DDL type from DDL text, a Spark type, a dataclass, a pydantic model or a Python type."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from tidemill.serde.base import SerdeError


def ddl_of(schema: Any) -> str:
    """The Spark type of a schema, as DDL.

    >>> @dataclasses.dataclass
    ... class Order:
    ...     id: int
    ...     amount: Decimal
    ...     tags: list[str]
    >>> ddl_of(Order)
    'struct<id:bigint,amount:decimal(38,18),tags:array<string>>'
    >>> ddl_of("id BIGINT, city STRING")
    'struct<id BIGINT, city STRING>'
    >>> ddl_of(dict[str, float])
    'map<string,double>'
    """
    if isinstance(schema, str):
        return _of_text(schema)
    if callable(getattr(schema, "simpleString", None)) and callable(getattr(schema, "json", None)):
        return str(schema.simpleString()) if not isinstance(schema, type) else str(schema().simpleString())
    return _of_type(schema, ())


_PRIMITIVES: Final[dict[Any, str]] = {
    bool: "boolean",
    int: "bigint",
    float: "double",
    str: "string",
    bytes: "binary",
    bytearray: "binary",
    datetime: "timestamp",
    date: "date",
    Decimal: "decimal(38,18)",
    UUID: "string",
}
_ONE_TYPE = re.compile(
    r"(struct|array|map)\s*<.*>|\w+(\s*\([\d\s,]*\))?|interval\b.*", re.IGNORECASE | re.DOTALL
)


def _of_text(text: str) -> str:
    text = text.strip()
    if not text:
        raise SerdeError("the schema is empty", remedy='write columns such as "id BIGINT, city STRING"')
    return text if _ONE_TYPE.fullmatch(text) else f"struct<{text}>"


def _of_type(kind: Any, outer: tuple[Any, ...]) -> str:
    if kind in outer:
        raise SerdeError(f"{_name(kind)} contains itself", remedy="a Spark schema ends; break the circle")
    if kind in _PRIMITIVES:
        return _PRIMITIVES[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "string"
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _of_union(kind, args, outer)
    if origin is typing.Annotated:
        return _of_type(args[0], outer)
    if origin is typing.Literal:
        return _of_type(type(args[0]), outer)
    if origin in (list, set, frozenset, tuple) and args:
        return f"array<{_of_type(args[0], outer)}>"
    if origin is dict:
        return f"map<{_of_type(args[0], outer)},{_of_type(args[1], outer)}>"
    members = _fields(kind)
    if members is None:
        raise SerdeError(
            f"{_name(kind)} has no Spark type",
            remedy="use int, float, str, bool, bytes, datetime, date, Decimal, list, dict or a dataclass, "
            "or write the schema as DDL",
        )
    inner = (f"{_quoted(name)}:{_of_type(member, (*outer, kind))}" for name, member in members.items())
    return f"struct<{','.join(inner)}>"


def _of_union(kind: Any, args: tuple[Any, ...], outer: tuple[Any, ...]) -> str:
    rest = [arg for arg in args if arg is not type(None)]
    if len(rest) != 1:
        raise SerdeError(f"{_name(kind)} is one of several types", remedy="a Spark column has one type")
    return _of_type(rest[0], outer)


def _fields(kind: Any) -> dict[str, Any] | None:
    if not isinstance(kind, type):
        return None
    if dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        return {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    if isinstance(model := getattr(kind, "model_fields", None), dict):
        return {name: field.annotation for name, field in model.items()}
    if typing.is_typeddict(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        return _hints(kind)
    return None


def _hints(kind: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind)
    except NameError as error:
        raise SerdeError(
            f"{_name(kind)} names a type that is not known at module level: {error}",
            remedy="move the classes to the top of the module, or write the schema as DDL",
        ) from error


def _quoted(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else f"`{name}`"


def _name(kind: Any) -> str:
    return f"`{kind.__name__ if isinstance(kind, type) else kind}`"
