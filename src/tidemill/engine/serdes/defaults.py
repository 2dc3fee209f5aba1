"""The serde of a type where the user named none."""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NullType,
    ShortType,
    StringType,
    StructType,
)

from tidemill import serdes
from tidemill.serde.base import Serde


def default_serde(type_: DataType) -> Serde:
    """Primitives as Kafka has them, windowed keys as Kafka Streams has them, everything else as JSON."""
    if isinstance(type_, StructType) and [field.name for field in type_] == ["key", "start", "end"]:
        return serdes.time_windowed(default_serde(type_["key"].dataType))
    return _SIMPLE.get(type(type_)) or serdes.json(type_)


_SIMPLE: Final[dict[type[DataType], Serde]] = {
    StringType: serdes.string,
    BinaryType: serdes.bytes,
    ShortType: serdes.short,
    IntegerType: serdes.int,
    LongType: serdes.long,
    FloatType: serdes.float,
    DoubleType: serdes.double,
    BooleanType: serdes.boolean,
    NullType: serdes.void,
}
