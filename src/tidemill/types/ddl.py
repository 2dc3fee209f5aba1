"""Types in Spark's notation: `bigint`, `struct<a: int>`, or a list of columns `a INT, b STRING NOT NULL`."""

from __future__ import annotations

import re

from tidemill.types.model import Array, DataType, Decimal, Field, Map, Scalar, Struct
from tidemill.types.reading import Notation, Reader


def parse_ddl(text: str) -> DataType:
    """The type a text in Spark's DDL names; a list of columns is a struct.

    Comments of columns are passed over: they are no part of a type.

    >>> parse_ddl("array<decimal(4, 2)>")
    Array(element=Decimal(precision=4, scale=2))
    >>> parse_ddl("id BIGINT NOT NULL, name STRING").names
    ('id', 'name')
    >>> parse_ddl("id bigintt")
    Traceback (most recent call last):
    tidemill.types.reading.TypeTextError: `bigintt` is not a type (column 4 of `id bigintt`)
    Remedy: did you mean BIGINT?
    """
    reader = Reader(text)
    if _is_single(reader):
        found = _SPARK.read(reader)
        reader.done()
        return found
    fields = [_SPARK.fields(reader)]
    while reader.passes(","):
        fields.append(_SPARK.fields(reader))
    reader.done()
    return Struct(tuple(fields))


def to_ddl(type_: DataType) -> str:
    """The type in Spark's DDL.

    >>> to_ddl(parse_ddl("a int, `b c` map<string, binary>"))
    'STRUCT<a: INT, `b c`: MAP<STRING, BINARY>>'
    """
    match type_:
        case Scalar():
            return type_.value
        case Decimal(precision, scale):
            return f"DECIMAL({precision},{scale})"
        case Array(element):
            return f"ARRAY<{to_ddl(element)}>"
        case Map(key, value):
            return f"MAP<{to_ddl(key)}, {to_ddl(value)}>"
        case Struct(fields):
            return f"STRUCT<{', '.join(_field(field, ': ') for field in fields)}>"


def columns_ddl(struct: Struct) -> str:
    """The fields of a struct as a list of columns.

    >>> columns_ddl(Struct.of(id=Scalar.BIGINT, name=Scalar.STRING))
    'id BIGINT, name STRING'
    """
    return ", ".join(_field(field, " ") for field in struct.fields)


def _field(field: Field, between: str) -> str:
    name = field.name if _PLAIN.fullmatch(field.name) else "`" + field.name.replace("`", "``") + "`"
    return f"{name}{between}{to_ddl(field.type)}{'' if field.nullable else ' NOT NULL'}"


def _is_single(reader: Reader) -> bool:
    # `date` alone is a type, `date date` is a column of that name.
    first, second = reader.tokens[0], reader.tokens[min(1, len(reader.tokens) - 1)]
    return first.kind == "word" and (second.kind == "end" or second.value in ("<", "("))


def _options(reader: Reader) -> bool:
    nullable = True
    while True:
        if reader.passes("NOT"):
            reader.expect("NULL")
            nullable = False
        elif reader.passes("COMMENT"):
            if reader.take().kind != "text":
                raise reader.error("a comment is a text in single quotes")
        else:
            return nullable


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_SPARK = Notation(
    scalars={
        **{scalar.value: scalar for scalar in Scalar},
        "BYTE": Scalar.BYTE,
        "SHORT": Scalar.SHORT,
        "INTEGER": Scalar.INTEGER,
        "LONG": Scalar.BIGINT,
        "REAL": Scalar.FLOAT,
        "VARCHAR": Scalar.STRING,
        "CHAR": Scalar.STRING,
        "TIMESTAMP_LTZ": Scalar.TIMESTAMP,
    },
    unquoted=str,
    default_decimal=Decimal(10, 0),
    field_options=_options,
)
