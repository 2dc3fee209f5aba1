"""Serdes as Spark expressions: bytes to typed values and back, in native code."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
)

from tidemill import serdes
from tidemill.engine.types import data_type
from tidemill.errors import UsageError
from tidemill.serde.base import Serde
from tidemill.serde.primitive import BooleanSerde, BytesSerde, NumberSerde, StringSerde, UuidSerde, VoidSerde
from tidemill.serde.structured import CsvSerde, JsonSerde, XmlSerde
from tidemill.serde.windowed import SessionWindowedSerde, TimeWindowedSerde


def decode(serde: Serde, data: Column) -> Column:
    """The typed value of a binary Column. What does not parse becomes null: see `is_broken`."""
    match serde:
        case StringSerde() | UuidSerde():
            return data.cast("string")
        case BytesSerde():
            return data
        case VoidSerde():
            return F.lit(None).cast("void")
        case NumberSerde():
            return F.call_function(f"tidemill_decode_{serde.name}", data)
        case BooleanSerde():
            return F.when(data == F.lit(b"\x01"), F.lit(True)).when(data == F.lit(b"\x00"), F.lit(False))
        case JsonSerde():
            return _from_json(serde, data)
        case CsvSerde():
            return F.from_csv(data.cast("string"), _fields(serde.schema), {"sep": serde.delimiter})
        case XmlSerde():
            return F.from_xml(data.cast("string"), data_type(serde.schema), {"rowTag": serde.row_tag})
        case TimeWindowedSerde():
            return _time_windowed(serde, data)
        case SessionWindowedSerde():
            return _session_windowed(serde, data)
    raise _no_native_form(serde)


def encode(serde: Serde, value: Column) -> Column:
    """The binary Column of a typed value; null stays null."""
    match serde:
        case StringSerde() | UuidSerde():
            return value.cast("string").cast("binary")
        case BytesSerde():
            return value.cast("binary")
        case VoidSerde():
            return F.lit(None).cast("binary")
        case NumberSerde():
            return F.call_function(f"tidemill_encode_{serde.name}", value.cast(serde.schema))
        case BooleanSerde():
            return F.when(value, F.lit(b"\x01")).when(~value, F.lit(b"\x00"))
        case JsonSerde():
            return _to_json(serde, value)
        case CsvSerde():
            return F.when(value.isNotNull(), F.to_csv(value, {"sep": serde.delimiter})).cast("binary")
        case XmlSerde():
            return F.when(value.isNotNull(), F.to_xml(value, {"rowTag": serde.row_tag})).cast("binary")
        case TimeWindowedSerde():
            return F.concat(encode(serde.inner, value["key"]), _time_bytes(value["start"]))
        case SessionWindowedSerde():
            times = (_time_bytes(value["end"]), _time_bytes(value["start"]))
            return F.concat(encode(serde.inner, value["key"]), *times)
    raise _no_native_form(serde)


def is_broken(serde: Serde, data: Column, value: Column) -> Column:
    """Whether bytes were there, but no value came out of them."""
    if isinstance(serde, StringSerde):
        return data.isNotNull() & ~F.is_valid_utf8(data.cast("string"))
    if isinstance(serde, VoidSerde):
        return F.lit(False)
    if isinstance(serde, JsonSerde):
        is_null = F.trim(data.cast("string")) == F.lit("null")
        return data.isNotNull() & value.isNull() & ~is_null
    return data.isNotNull() & value.isNull()


def default_serde(type_: DataType) -> Serde:
    """The serde of a type where the user named none: primitives as Kafka has them, everything else as JSON."""
    if isinstance(type_, StructType) and [field.name for field in type_] == ["key", "start", "end"]:
        return serdes.time_windowed(default_serde(type_["key"].dataType))
    simple: dict[type[DataType], Serde] = {
        StringType: serdes.string,
        BinaryType: serdes.bytes,
        ShortType: serdes.short,
        IntegerType: serdes.int,
        LongType: serdes.long,
        FloatType: serdes.float,
        DoubleType: serdes.double,
        BooleanType: serdes.boolean,
    }
    return simple.get(type(type_)) or serdes.json(type_)


_JSON_WRAPPER = "v"


def _from_json(serde: JsonSerde, data: Column) -> Column:
    type_ = data_type(serde.schema)
    text = data.cast("string")
    if isinstance(type_, StructType):
        return F.from_json(text, type_, {"mode": "PERMISSIVE"})
    # Spark reads only objects and arrays at the top: wrap what may be a bare number or string.
    wrapped = F.concat(F.lit(f'{{"{_JSON_WRAPPER}":'), text, F.lit("}"))
    return F.from_json(wrapped, StructType().add(_JSON_WRAPPER, type_))[_JSON_WRAPPER]


def _to_json(serde: JsonSerde, value: Column) -> Column:
    type_ = data_type(serde.schema)
    if isinstance(type_, StructType):
        return F.when(value.isNotNull(), F.to_json(value)).cast("binary")
    wrapped = F.to_json(F.struct(value.alias(_JSON_WRAPPER)))
    inner = F.substring(wrapped, len(_JSON_WRAPPER) + 5, 2**31 - 1)
    return F.when(value.isNotNull(), F.left(inner, F.length(inner) - F.lit(1))).cast("binary")


def _fields(schema: str) -> str:
    return ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in _struct(schema))


def _struct(schema: str) -> StructType:
    type_ = data_type(schema)
    if not isinstance(type_, StructType):
        raise UsageError(f"`{schema}` is not a list of fields", remedy="name the fields, as in `city STRING`")
    return type_


def _time_bytes(time: Column) -> Column:
    return encode(serdes.long, F.unix_millis(time))


def _time(data: Column) -> Column:
    return F.timestamp_millis(decode(serdes.long, data))


def _time_windowed(serde: TimeWindowedSerde, data: Column) -> Column:
    start = decode(serdes.long, F.right(data, F.lit(8)))
    end = F.timestamp_millis(start + serde.size) if serde.size is not None else F.lit(None).cast("timestamp")
    return F.struct(_inner(serde, data, 8).alias("key"), F.timestamp_millis(start).alias("start"), end.alias("end"))


def _session_windowed(serde: SessionWindowedSerde, data: Column) -> Column:
    return F.struct(
        _inner(serde, data, 16).alias("key"),
        _time(F.right(data, F.lit(8))).alias("start"),
        _time(F.left(F.right(data, F.lit(16)), F.lit(8))).alias("end"),
    )


def _inner(serde: Any, data: Column, tail: int) -> Column:
    return decode(serde.inner, F.left(data, F.length(data) - F.lit(tail)))


def _no_native_form(serde: Serde) -> UsageError:
    return UsageError(
        f"the {serde.name} serde cannot be run by Spark yet",
        remedy="read the bytes with serdes.bytes and decode them in map_values",
    )

