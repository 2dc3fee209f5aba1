"""What a record carries beside key and value, as Columns for the functions of the DSL."""

from __future__ import annotations

import importlib
from typing import Any

HEADERS = "__headers"
TIMESTAMP = "__timestamp"
TOPIC = "__topic"
PARTITION = "__partition"
OFFSET = "__offset"


def headers() -> Any:
    """The headers: an array of structs (key string, value binary)."""
    return _column(HEADERS)


def timestamp() -> Any:
    """The time of the record."""
    return _column(TIMESTAMP)


def topic() -> Any:
    """The topic the record was read from."""
    return _column(TOPIC)


def partition() -> Any:
    """The partition the record was read from."""
    return _column(PARTITION)


def offset() -> Any:
    """The offset the record was read at."""
    return _column(OFFSET)


def _column(name: str) -> Any:
    # Imported on call: declaring a topology needs no Spark, running one does.
    return importlib.import_module("pyspark.sql.functions").col(name)
