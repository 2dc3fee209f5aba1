"""Serdes of single values, in the bytes of Kafka's own Java serializers."""

from __future__ import annotations

import struct
import uuid as uuids
from dataclasses import dataclass
from typing import Any, Final

from tidemill.serde.base import Serde, SerdeError


@dataclass(frozen=True, slots=True, kw_only=True)
class StringSerde(Serde):
    """Text as UTF-8."""

    name: str = "string"
    schema: str = "string"

    def _to_bytes(self, value: Any) -> bytes:
        if not isinstance(value, str):
            raise SerdeError(f"{value!r} is no string", value=value, remedy="choose the serde of its type")
        return value.encode()

    def _from_bytes(self, data: bytes) -> Any:
        return data.decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class BytesSerde(Serde):
    """Bytes as they are."""

    name: str = "bytes"
    schema: str = "binary"

    def _to_bytes(self, value: Any) -> bytes:
        return bytes(memoryview(value))

    def _from_bytes(self, data: bytes) -> Any:
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSerde(Serde):
    """A number of fixed width, most significant byte first; `layout` is its code in Python's struct."""

    layout: str

    @property
    def width(self) -> int:
        """How many bytes each number takes."""
        return struct.calcsize(self.layout)

    def _to_bytes(self, value: Any) -> bytes:
        return struct.pack(self.layout, value)

    def _from_bytes(self, data: bytes) -> Any:
        if len(data) != self.width:
            raise SerdeError(f"a {self.name} has {self.width} bytes, these are {len(data)}", value=data)
        return struct.unpack(self.layout, data)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class BooleanSerde(Serde):
    """True as one byte 1, False as one byte 0."""

    name: str = "boolean"
    schema: str = "boolean"

    def _to_bytes(self, value: Any) -> bytes:
        return b"\x01" if value else b"\x00"

    def _from_bytes(self, data: bytes) -> Any:
        if data not in (b"\x00", b"\x01"):
            raise SerdeError(f"a boolean is one byte, 0 or 1, not {data!r}", value=data)
        return data == b"\x01"


@dataclass(frozen=True, slots=True, kw_only=True)
class UuidSerde(Serde):
    """A UUID as its text, in Spark a string."""

    name: str = "uuid"
    schema: str = "string"

    def _to_bytes(self, value: Any) -> bytes:
        return str(uuids.UUID(str(value))).encode()

    def _from_bytes(self, data: bytes) -> Any:
        return uuids.UUID(data.decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidSerde(Serde):
    """Nothing: every value is null."""

    name: str = "void"
    schema: str = "void"

    def _to_bytes(self, value: Any) -> bytes:
        raise SerdeError(f"a void value is always None, not {value!r}", value=value)

    def _from_bytes(self, data: bytes) -> Any:  # noqa: ARG002  the bytes do not matter
        return None


string: Final = StringSerde()
bytes_: Final = BytesSerde()
short: Final = NumberSerde(name="short", schema="smallint", layout=">h")
integer: Final = NumberSerde(name="int", schema="int", layout=">i")
long: Final = NumberSerde(name="long", schema="bigint", layout=">q")
float_: Final = NumberSerde(name="float", schema="float", layout=">f")
double: Final = NumberSerde(name="double", schema="double", layout=">d")
boolean: Final = BooleanSerde()
uuid: Final = UuidSerde()
void: Final = VoidSerde()
