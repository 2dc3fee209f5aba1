"""The serdes under the names people use: `serdes.string`, `serdes.long`, `serdes.json(Order)`."""

from tidemill.serde.avro import avro
from tidemill.serde.custom import custom
from tidemill.serde.lists import list_of
from tidemill.serde.primitive import boolean, double, long, short, string, uuid, void
from tidemill.serde.primitive import bytes_ as bytes  # noqa: A004  read as serdes.bytes
from tidemill.serde.primitive import float_ as float  # noqa: A004  read as serdes.float
from tidemill.serde.primitive import integer as int  # noqa: A004  read as serdes.int
from tidemill.serde.protobuf import protobuf
from tidemill.serde.structured import csv, json, xml
from tidemill.serde.windowed import session_windowed, time_windowed

__all__ = [
    "avro",
    "boolean",
    "bytes",
    "csv",
    "custom",
    "double",
    "float",
    "int",
    "json",
    "list_of",
    "long",
    "protobuf",
    "session_windowed",
    "short",
    "string",
    "time_windowed",
    "uuid",
    "void",
    "xml",
]
