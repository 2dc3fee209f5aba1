"""Output rows as the kernel packs them into bytes: the reader of `io.tidemill.memory.PackedRows`."""

from __future__ import annotations

import struct
from collections.abc import Iterator

Headers = tuple[tuple[str, bytes | None], ...]
Row = tuple[str | None, bytes | None, bytes | None, int, Headers, bool]
"""Topic (None for a barrier), key, value, timestamp, headers, and whether it is a problem."""


def unpacked(packed: bytes) -> Iterator[Row]:
    """The rows of a packet.

    >>> list(unpacked(bytes.fromhex("00000001 00000001 74 00000001 6b ffffffff 0000000000000007 0000000000")))
    [('t', b'k', None, 7, (), False)]
    """
    reader = _Reader(packed)
    for _ in range(reader.number()):
        topic, key, value, time = reader.text(), reader.data(), reader.data(), reader.long()
        headers = tuple((reader.text() or "", reader.data()) for _ in range(reader.number()))
        yield topic, key, value, time, headers, reader.flag()


class _Reader:
    """Reads numbers, texts and bytes one after the other."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._at = 0

    def number(self) -> int:
        (number,) = struct.unpack_from(">i", self._packed, self._at)
        self._at += 4
        return int(number)

    def long(self) -> int:
        (number,) = struct.unpack_from(">q", self._packed, self._at)
        self._at += 8
        return int(number)

    def flag(self) -> bool:
        self._at += 1
        return self._packed[self._at - 1] != 0

    def data(self) -> bytes | None:
        length = self.number()
        if length < 0:
            return None
        self._at += length
        return bytes(self._packed[self._at - length : self._at])

    def text(self) -> str | None:
        data = self.data()
        return None if data is None else data.decode()
