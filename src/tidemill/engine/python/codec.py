"""How the keys and values of stores become bytes: by their serde, or as JSON where none was declared."""

from __future__ import annotations

import json
import struct
from typing import Any, Protocol

from tidemill.dsl import ValueAndTimestamp
from tidemill.serde.base import Serde, SerdeError
from tidemill.topology import StoreSpec


class Codec(Protocol):
    """Values to bytes and back; serdes are such codecs."""

    def encode(self, value: Any) -> bytes | None:
        """The bytes of a value."""

    def decode(self, data: bytes | None) -> Any:
        """The value of some bytes."""


class PlainCodec:
    """Text, numbers, lists and dicts as JSON: what a store without a serde can hold."""

    def encode(self, value: Any) -> bytes | None:
        """The bytes of a value; None stays None."""
        if value is None:
            return None
        try:
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
        except (TypeError, ValueError) as error:
            raise SerdeError(
                f"{type(value).__name__} has no JSON form, and the store has no serde",
                value=value,
                remedy="declare the store with key= and value= serdes",
            ) from error

    def decode(self, data: bytes | None) -> Any:
        """The value of some bytes; None stays None."""
        return None if data is None else json.loads(data)


class TimestampedCodec:
    """Values with their timestamps and headers: the time, the number of headers, the headers, the value."""

    def __init__(self, values: Codec) -> None:
        self._values = values

    def encode(self, value: Any) -> bytes | None:
        """The bytes of a value with its time; None stays None, and so does a None with a time."""
        if value is None:
            return None
        if not isinstance(value, ValueAndTimestamp):
            raise SerdeError(
                f"a timestamped store holds ValueAndTimestamp, not {type(value).__name__}",
                value=value,
                remedy="put ValueAndTimestamp(value, timestamp)",
            )
        data = self._values.encode(value.value)
        if data is None:
            return None
        parts = [struct.pack(">qI", value.timestamp, len(value.headers))]
        for name, content in value.headers:
            parts += [_sized(name.encode()), _sized(content)]
        return b"".join((*parts, data))

    def decode(self, data: bytes | None) -> Any:
        """The value with its time."""
        if data is None:
            return None
        (timestamp, count), at = struct.unpack_from(">qI", data), 12
        headers = []
        for _ in range(count):
            name, at = _read(data, at)
            content, at = _read(data, at)
            headers.append(((name or b"").decode(), content))
        return ValueAndTimestamp(self._values.decode(data[at:]), timestamp, tuple(headers))


def codec(serde: Serde | None) -> Codec:
    """The codec of a declared serde."""
    return PlainCodec() if serde is None else serde


def value_codec(spec: StoreSpec) -> Codec:
    """The codec of a store's values."""
    values = codec(spec.value)
    return TimestampedCodec(values) if spec.timestamped else values


def required(what: str, store: str, data: bytes | None) -> bytes:
    """The bytes of a key, which may not be None."""
    if data is None:
        raise SerdeError(f"the {what} of an entry of `{store}` is None", remedy="stores have no null keys")
    return data


def _sized(data: bytes | None) -> bytes:
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def _read(data: bytes, at: int) -> tuple[bytes | None, int]:
    (length,) = struct.unpack_from(">i", data, at)
    return (None, at + 4) if length < 0 else (data[at + 4 : at + 4 + length], at + 4 + length)
