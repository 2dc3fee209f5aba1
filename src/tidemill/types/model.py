"""Data types as plain, immutable values: what a column, a key or a record can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias


class Scalar(Enum):
    """The types without parameters. The value of each is its name in Spark's DDL.

    >>> Scalar.BIGINT.value, Scalar.BYTES.value
    ('BIGINT', 'BINARY')
    """

    NULL = "VOID"  # the type of a bare NULL
    BOOLEAN = "BOOLEAN"
    BYTE = "TINYINT"
    SHORT = "SMALLINT"
    INTEGER = "INT"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    STRING = "STRING"
    BYTES = "BINARY"
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_NTZ = "TIMESTAMP_NTZ"

    def __repr__(self) -> str:
        return self.name

    __hash__ = object.__hash__  # members are singletons, also after pickling


@dataclass(frozen=True, slots=True)
class Decimal:
    """A number of `precision` digits, `scale` of them behind the point; the precision has no upper bound.

    >>> Decimal(4, 2).whole
    2
    """

    precision: int
    scale: int = 0

    def __post_init__(self) -> None:
        if self.precision < 1 or not 0 <= self.scale <= self.precision:
            raise ValueError(
                f"DECIMAL({self.precision}, {self.scale}) cannot be: "
                "the precision is at least 1, the scale at least 0 and at most the precision"
            )

    @property
    def whole(self) -> int:
        """How many digits stand before the point."""
        return self.precision - self.scale


@dataclass(frozen=True, slots=True)
class Array:
    """A list of elements of one type."""

    element: DataType


@dataclass(frozen=True, slots=True)
class Map:
    """Keys of one type with values of one type."""

    key: DataType
    value: DataType


@dataclass(frozen=True, slots=True)
class Field:
    """A named part of a struct. Names keep their case, and compare by it."""

    name: str
    type: DataType
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class Struct:
    """Named fields in order; two structs are equal when names, types and order are.

    >>> point = Struct.of(x=Scalar.DOUBLE, y=Scalar.DOUBLE)
    >>> point.names
    ('x', 'y')
    >>> point.field("y")
    Field(name='y', type=DOUBLE, nullable=True)
    >>> point.field("Y") is None
    True
    """

    fields: tuple[Field, ...] = ()

    @staticmethod
    def of(**types: DataType) -> Struct:
        """A struct of fields given as keywords."""
        return Struct(tuple(Field(name, type_) for name, type_ in types.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(field.name for field in self.fields)

    def field(self, name: str) -> Field | None:
        """The field of exactly this name."""
        return next((field for field in self.fields if field.name == name), None)


DataType: TypeAlias = Scalar | Decimal | Array | Map | Struct

BOOLEAN = Scalar.BOOLEAN
INTEGER = Scalar.INTEGER
BIGINT = Scalar.BIGINT
DOUBLE = Scalar.DOUBLE
STRING = Scalar.STRING
BYTES = Scalar.BYTES
DATE = Scalar.DATE
TIME = Scalar.TIME
TIMESTAMP = Scalar.TIMESTAMP
NULL = Scalar.NULL


def children(type_: DataType) -> tuple[DataType, ...]:
    """The types directly inside a type.

    >>> children(Map(STRING, Array(BIGINT)))
    (STRING, Array(element=BIGINT))
    """
    match type_:
        case Array(element):
            return (element,)
        case Map(key, value):
            return (key, value)
        case Struct(fields):
            return tuple(field.type for field in fields)
    return ()


def walk(type_: DataType) -> Iterator[DataType]:
    """The type itself, then everything inside it, outer before inner.

    >>> list(walk(Array(Decimal(3, 1))))
    [Array(element=Decimal(precision=3, scale=1)), Decimal(precision=3, scale=1)]
    """
    yield type_
    for child in children(type_):
        yield from walk(child)


def rebuilt(type_: DataType, change: Callable[[DataType], DataType]) -> DataType:
    """The type with `change` applied to every part, inner before outer.

    >>> rebuilt(Array(INTEGER), lambda part: BIGINT if part is INTEGER else part)
    Array(element=BIGINT)
    """
    match type_:
        case Array(element):
            return change(Array(rebuilt(element, change)))
        case Map(key, value):
            return change(Map(rebuilt(key, change), rebuilt(value, change)))
        case Struct(fields):
            return change(Struct(tuple(replace(field, type=rebuilt(field.type, change)) for field in fields)))
    return change(type_)
