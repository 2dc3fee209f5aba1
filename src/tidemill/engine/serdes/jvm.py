"""Columns of the kernel's functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from py4j.java_collections import ListConverter
from pyspark.sql import Column, SparkSession
from pyspark.sql.types import DataType

from tidemill.engine.types import data_type, java_type


def call(function: str, returns: str, *arguments: tuple[Column, str]) -> Column:
    """A static function such as `Numbers.readLong` over columns, each with its type."""
    return _invoke(_kernel().Serdes.call, function, returns, arguments)


def call_here(function: str, returns: str | DataType, *arguments: tuple[Column, str]) -> Column:
    """As `call`, for a function that Spark may not move elsewhere or leave out."""
    return _invoke(_kernel().Serdes.callHere, function, returns, arguments)


def _invoke(
    make: Any, function: str, returns: str | DataType, arguments: Sequence[tuple[Column, str]]
) -> Column:
    owner, _, name = function.partition(".")
    columns = [column._jc for column, _ in arguments]
    types = [java(data_type(type_)) for _, type_ in arguments]
    result = returns if isinstance(returns, DataType) else data_type(returns)
    return Column(make(owner, name, java(result), _list(columns), _list(types)))


def convert(column: Column, converter: str, *arguments: Any) -> Column:
    """A column through a converter, given its class and the arguments of its constructor."""
    kernel = _kernel()
    return Column(kernel.Serdes.convert(column._jc, getattr(kernel, converter)(*arguments)))


def registry(url: str, authorization: str | None) -> Any:
    """The kernel's client of a schema registry."""
    return _kernel().Registry(url, authorization)


def java(type_: DataType) -> Any:
    """A type as the JVM's object."""
    return java_type(_spark(), type_)


def _kernel() -> Any:
    jvm: Any = _spark()._jvm
    return jvm.io.tidemill.serde


def _spark() -> SparkSession:
    spark = SparkSession.getActiveSession()
    assert spark is not None, "Columns are made while a session runs"
    return spark


def _list(items: Sequence[Any]) -> Any:
    gateway: Any = _spark().sparkContext._gateway
    return ListConverter().convert(list(items), gateway._gateway_client)
