"""Types in ksqlDB's notation: ``ARRAY<STRUCT<`A` INTEGER>>``; names without quotes are upper-cased."""

from __future__ import annotations

from tidemill.types.model import Array, DataType, Decimal, Map, Scalar, Struct
from tidemill.types.reading import Notation, Reader


def parse_sql(text: str) -> DataType:
    """The type a text in ksqlDB's notation names.

    >>> parse_sql("MAP<STRING, INT>")
    Map(key=STRING, value=INTEGER)
    >>> parse_sql("STRUCT<a VARCHAR, `b` DOUBLE>").names
    ('A', 'b')
    """
    reader = Reader(text)
    found = _SQL.read(reader)
    reader.done()
    return found


def to_sql(type_: DataType) -> str:
    """The type in ksqlDB's notation, as its schemas print it.

    >>> to_sql(Struct.of(A=Array(Decimal(4, 2))))
    'STRUCT<`A` ARRAY<DECIMAL(4, 2)>>'
    """
    match type_:
        case Scalar():
            return type_.name
        case Decimal(precision, scale):
            return f"DECIMAL({precision}, {scale})"
        case Array(element):
            return f"ARRAY<{to_sql(element)}>"
        case Map(key, value):
            return f"MAP<{to_sql(key)}, {to_sql(value)}>"
        case Struct(fields):
            return f"STRUCT<{', '.join(f'{quoted(field.name)} {to_sql(field.type)}' for field in fields)}>"


def quoted(name: str) -> str:
    """A name in back-quotes.

    >>> quoted("A"), quoted("a`b")
    ('`A`', '`a``b`')
    """
    return "`" + name.replace("`", "``") + "`"


SCALARS: dict[str, DataType] = {
    "BOOLEAN": Scalar.BOOLEAN,
    "INT": Scalar.INTEGER,
    "INTEGER": Scalar.INTEGER,
    "BIGINT": Scalar.BIGINT,
    "DOUBLE": Scalar.DOUBLE,
    "STRING": Scalar.STRING,
    "VARCHAR": Scalar.STRING,
    "BYTES": Scalar.BYTES,
    "DATE": Scalar.DATE,
    "TIME": Scalar.TIME,
    "TIMESTAMP": Scalar.TIMESTAMP,
}
"""The words of the language for types without parameters."""

_SQL = Notation(
    scalars=SCALARS,
    unquoted=str.upper,
    default_decimal=None,
    field_options=lambda reader: True,  # noqa: ARG005  # ksqlDB's fields have no options
)
