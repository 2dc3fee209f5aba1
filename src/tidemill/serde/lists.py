"""Lists of one inner serde, in the layout of Kafka's ListSerde."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from typing import Any

from tidemill.serde.base import Serde, SerdeError
from tidemill.serde.primitive import NumberSerde, UuidSerde


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSerde(Serde):
    """A list; elements of a fixed width are packed, others carry their length."""

    name: str = "list"
    inner: Serde

    @property
    def width(self) -> int | None:
        """The bytes of each element where all have the same number, else None."""
        if isinstance(self.inner, NumberSerde):
            return self.inner.width
        return _UUID_WIDTH if isinstance(self.inner, UuidSerde) else None

    def _to_bytes(self, value: Any) -> bytes:
        parts = [self.inner.encode(item) for item in value]
        if self.width is not None:
            nulls = [index for index, part in enumerate(parts) if part is None]
            head = struct.pack(f">b{len(nulls) + 2}i", _FIXED, len(nulls), *nulls, len(parts))
            return head + b"".join(part for part in parts if part is not None)
        body = (_int(_NULL) if part is None else _int(len(part)) + part for part in parts)
        return struct.pack(">bi", _VARIABLE, len(parts)) + b"".join(body)

    def _from_bytes(self, data: bytes) -> Any:
        stream = io.BytesIO(data)
        fixed = _read(stream, 1) == bytes([_FIXED])
        nulls = {_read_int(stream) for _ in range(_read_int(stream))} if fixed else set()
        items = []
        for index in range(_read_int(stream)):
            length = (self.width or 0) if fixed else _read_int(stream)
            is_null = index in nulls if fixed else length == _NULL
            items.append(None if is_null else self.inner.decode(_read(stream, length)))
        return items


def list_of(inner: Serde) -> ListSerde:
    """A list whose elements all have one serde.

    >>> from tidemill.serde.primitive import long
    >>> list_of(long).decode(list_of(long).encode([1, None, 3]))
    [1, None, 3]
    """
    return ListSerde(schema=f"array<{inner.schema}>", inner=inner)


_FIXED, _VARIABLE = 0, 1
_NULL = -1
_UUID_WIDTH = 36


def _int(value: int) -> bytes:
    return struct.pack(">i", value)


def _read_int(stream: io.BytesIO) -> int:
    return int(struct.unpack(">i", _read(stream, 4))[0])


def _read(stream: io.BytesIO, length: int) -> bytes:
    data = stream.read(length)
    if len(data) != length:
        raise SerdeError("the bytes end inside the list", value=stream.getvalue())
    return data
