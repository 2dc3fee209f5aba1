"""Data types below everything: immutable values, and their texts in Spark's and ksqlDB's notation."""

from __future__ import annotations

from tidemill.types.ddl import columns_ddl, parse_ddl, to_ddl
from tidemill.types.model import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    NULL,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Scalar,
    Struct,
    children,
    rebuilt,
    walk,
)
from tidemill.types.reading import TypeTextError
from tidemill.types.sql import parse_sql, quoted, to_sql

__all__ = [
    "BIGINT",
    "BOOLEAN",
    "BYTES",
    "DATE",
    "DOUBLE",
    "INTEGER",
    "NULL",
    "STRING",
    "TIME",
    "TIMESTAMP",
    "Array",
    "DataType",
    "Decimal",
    "Field",
    "Map",
    "Scalar",
    "Struct",
    "TypeTextError",
    "children",
    "columns_ddl",
    "parse_ddl",
    "parse_sql",
    "quoted",
    "rebuilt",
    "to_ddl",
    "to_sql",
    "walk",
]
