"""Serdes that only Python can run, as Arrow UDFs: a batch of records at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import BinaryType, DataType

from tidemill.engine.serdes.fit import fit
from tidemill.engine.serdes.form import Form, runs
from tidemill.engine.types import data_type
from tidemill.serde.base import Serde, SerdeError
from tidemill.serde.custom import CustomSerde
from tidemill.serde.protobuf import ProtobufSerde


@runs(CustomSerde, ProtobufSerde)
class PythonForm(Form):
    """Runs the serde's own Python codec; a decoder that raises, or gives None, met broken bytes."""

    def decode(self, serde: Serde, data: Column, /) -> Column:
        return _arrow_udf(_decoder(serde), data_type(serde.schema))(data)

    def encode(self, serde: Serde, value: Column, /) -> Column:
        if isinstance(serde, ProtobufSerde):
            serde = serde.registered()
        return _arrow_udf(_encoder(serde), BinaryType())(fit(value, data_type(serde.schema)))

    def is_python(self, _serde: Any, /) -> bool:
        return True


def _arrow_udf(function: Callable[[pa.Array], pa.Array], returns: DataType) -> Callable[[Column], Column]:
    udf: Any = F.arrow_udf  # type: ignore[attr-defined]  # PySpark exports it without saying so
    made: Callable[[Column], Column] = udf(function, returns)
    return made


def _decoder(serde: Serde) -> Callable[[pa.Array], pa.Array]:
    arrow = to_arrow_type(data_type(serde.schema), timezone="UTC")

    def decode(data: pa.Array) -> pa.Array:
        return pa.array([_decoded(serde, item) for item in data.to_pylist()], arrow)

    return decode


def _encoder(serde: Serde) -> Callable[[pa.Array], pa.Array]:
    def encode(values: pa.Array) -> pa.Array:
        items = values.to_pylist(maps_as_pydicts="strict")
        return pa.array([serde.encode(item) for item in items], pa.binary())

    return encode


def _decoded(serde: Serde, data: bytes | None) -> Any:
    try:
        return _plain(serde.decode(data))
    except SerdeError:
        return None


def _plain(value: Any) -> Any:
    """What a decoder made, in the terms of Arrow."""
    match value:
        case UUID():
            return str(value)
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset() if not hasattr(value, "_asdict"):
            return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain(dataclasses.asdict(value))
    for dump in ("_asdict", "model_dump"):
        if callable(method := getattr(value, dump, None)):
            return _plain(method())
    return value
