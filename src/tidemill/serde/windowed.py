"""Keys of windowed tables, in Kafka Streams' layout."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from tidemill.serde.base import Serde, SerdeError
from tidemill.time import Duration, milliseconds


@dataclass(frozen=True, slots=True)
class Windowed:
    """A key in a window; `start` and `end` are epoch milliseconds.

    >>> print(Windowed("oslo", 0, 10_000))
    [oslo@0/10000]
    """

    key: Any
    start: int
    end: int | None

    def __str__(self) -> str:
        return f"[{self.key}@{self.start}/{self.end}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWindowedSerde(Serde):
    """The key's bytes and the window's start; the end follows from the size.

    In a `changelog` a number follows that tells records of one key and time apart; here it is always 0.
    """

    name: str = "time-windowed"
    inner: Serde
    size: int | None = None
    changelog: bool | None = None

    def _to_bytes(self, value: Any) -> bytes:
        number = _NUMBER if self.changelog else b""
        return (self.inner.encode(value.key) or b"") + struct.pack(">q", value.start) + number

    def _from_bytes(self, data: bytes) -> Any:
        key, (start,) = _split(data[: -len(_NUMBER)] if self.changelog else data, 1)
        return Windowed(self.inner.decode(key), start, None if self.size is None else start + self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWindowedSerde(Serde):
    """The key's bytes, the session's end and its start."""

    name: str = "session-windowed"
    inner: Serde

    def _to_bytes(self, value: Any) -> bytes:
        return (self.inner.encode(value.key) or b"") + struct.pack(">qq", value.end, value.start)

    def _from_bytes(self, data: bytes) -> Any:
        key, (end, start) = _split(data, 2)
        return Windowed(self.inner.decode(key), start, end)


def time_windowed(
    inner: Serde, size: Duration | None = None, *, changelog: bool = False
) -> TimeWindowedSerde:
    """Keys of tumbling, hopping, sliding and unlimited windows; those in a `changelog` topic are longer.

    >>> from tidemill.serde.primitive import string
    >>> time_windowed(string, "10 s").decode(b"oslo" + bytes(8))
    Windowed(key='oslo', start=0, end=10000)
    """
    length = None if size is None else milliseconds(size, what="the window size")
    return TimeWindowedSerde(schema=_schema(inner), inner=inner, size=length, changelog=changelog or None)


def session_windowed(inner: Serde) -> SessionWindowedSerde:
    """Keys of session windows.

    >>> from tidemill.serde.primitive import string
    >>> session_windowed(string).schema
    'struct<key:string,start:timestamp,end:timestamp>'
    """
    return SessionWindowedSerde(schema=_schema(inner), inner=inner)


_NUMBER = bytes(4)


def _schema(inner: Serde) -> str:
    return f"struct<key:{inner.schema},start:timestamp,end:timestamp>"


def _split(data: bytes, times: int) -> tuple[bytes, tuple[int, ...]]:
    tail = 8 * times
    if len(data) < tail:
        raise SerdeError(f"a windowed key has at least {tail} bytes, these are {len(data)}", value=data)
    return data[:-tail], struct.unpack(f">{times}q", data[-tail:])
