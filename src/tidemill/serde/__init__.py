"""Serdes: how keys and values become bytes. Declarations only; the engine lowers them."""

from tidemill.serde.avro import AvroSerde
from tidemill.serde.base import Serde, SerdeError
from tidemill.serde.custom import CustomSerde
from tidemill.serde.lists import ListSerde
from tidemill.serde.primitive import BooleanSerde, BytesSerde, NumberSerde, StringSerde, UuidSerde, VoidSerde
from tidemill.serde.protobuf import ProtobufSerde
from tidemill.serde.schema import ddl_of
from tidemill.serde.structured import CsvSerde, JsonSerde, XmlSerde
from tidemill.serde.windowed import SessionWindowedSerde, TimeWindowedSerde, Windowed

__all__ = [
    "AvroSerde",
    "BooleanSerde",
    "BytesSerde",
    "CsvSerde",
    "CustomSerde",
    "JsonSerde",
    "ListSerde",
    "NumberSerde",
    "ProtobufSerde",
    "Serde",
    "SerdeError",
    "SessionWindowedSerde",
    "StringSerde",
    "TimeWindowedSerde",
    "UuidSerde",
    "VoidSerde",
    "Windowed",
    "XmlSerde",
    "ddl_of",
]
