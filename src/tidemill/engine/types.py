"""Spark types from their text, and to their Java form."""

from __future__ import annotations

from functools import cache
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, StructType, _parse_datatype_json_string


@cache
def data_type(ddl: str) -> DataType:
    """The type a DDL text names: `bigint`, `struct<a int>`, or a list of fields `a int, b string`."""
    return DataType.fromDDL(ddl)


def java_type(spark: SparkSession, type_: DataType) -> Any:
    """The type as the JVM's object."""
    return spark._jsparkSession.parseDataType(type_.json())


def python_type(java: Any) -> DataType:
    """The type of a JVM's object."""
    return _parse_datatype_json_string(java.json())


def pair_type(key: DataType, value: DataType) -> StructType:
    """The struct a port of the kernel carries."""
    return StructType().add("key", key).add("value", value)
