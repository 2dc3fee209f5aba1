"""Entries by key and time, forgotten when they are older than a store keeps them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tidemill.engine.python.cells import Cells

Position = tuple[int, int]
"""When an entry is: the time that ages it, and a second one that tells it from others."""
Timeline = dict[Position, bytes | None]
"""All entries of one key; a None is an entry too, where a store keeps deletions."""

_TIMELINE, _SEGMENT, _DIRECTORY, _CLOCK = b"k", b"s", b"d", b"c"
_SEGMENTS_PER_RETENTION = 4


class Timelines:
    """The timelines of all keys of a store, and its own stream time: the latest entry ever put.

    Time is cut into segments that note which keys have entries in them, so that old entries of keys that
    never come again are found without reading everything.
    """

    def __init__(self, cells: Cells, retention: int, *, keeps_latest: bool = False) -> None:
        self._cells = cells
        self.retention = retention
        self._keeps_latest = keeps_latest
        self._width = max(1, retention // _SEGMENTS_PER_RETENTION)
        clock = cells.get(_CLOCK)
        self.observed: int | None = None if clock is None else struct.unpack(">q", clock)[0]
        self._hot: dict[bytes, Timeline] = {}
        self._dirty: dict[bytes, None] = {}
        self._segments: dict[int, set[bytes]] = {}
        self._touched: set[int] = set()
        self._directory = _longs(cells.get(_DIRECTORY))

    @property
    def expired(self) -> int | None:
        """Entries at or before this time are gone; None where nothing is."""
        return None if self.observed is None else self.observed - self.retention

    def of(self, key: bytes) -> Timeline:
        """The entries of a key, in any order."""
        if key not in self._hot:
            self._hot[key] = _read(self._cells.get(_TIMELINE + key))
        return self._hot[key]

    def put(self, key: bytes, position: Position, value: bytes | None) -> None:
        """Set an entry."""
        self.of(key)[position] = value
        self._dirty[key] = None
        self.observe(position[0])
        number = position[0] // self._width
        self._keys_of(number).add(key)
        self._touched.add(number)

    def remove(self, key: bytes, position: Position) -> None:
        """Remove an entry."""
        if self.of(key).pop(position, None) is not None:
            self._dirty[key] = None

    def observe(self, time: int) -> None:
        """Note that the store has seen this time."""
        self.observed = time if self.observed is None else max(self.observed, time)

    def all_keys(self) -> Iterator[bytes]:
        """All keys that have entries."""
        stored = [key[1:] for key, _ in self._cells.prefixed(_TIMELINE)]
        yield from (key for key in sorted({*stored, *self._dirty}) if self.of(key))

    def save(self) -> None:
        """Forget what is too old and write down what changed."""
        if self.observed is None:
            return
        self._forget(self.observed - self.retention)
        for key in self._dirty:
            self._cells.put(_TIMELINE + key, _written(self._hot[key]) if self._hot[key] else None)
        for number in self._touched:
            self._cells.put(_SEGMENT + struct.pack(">q", number), _joined(self._segments[number]) or None)
        if self._touched:
            self._cells.put(_DIRECTORY, _packed(self._directory))
        if self._dirty or self._touched:
            self._cells.put(_CLOCK, struct.pack(">q", self.observed))
        self._dirty.clear()
        self._touched.clear()
        self._hot.clear()
        self._segments.clear()
        self._cells.save()

    def _keys_of(self, number: int) -> set[bytes]:
        if number not in self._segments:
            self._segments[number] = _split(self._cells.get(_SEGMENT + struct.pack(">q", number)))
            self._directory.add(number)
        return self._segments[number]

    def _forget(self, limit: int) -> None:
        for number in sorted(n for n in self._directory if (n + 1) * self._width <= limit):
            for key in self._keys_of(number):
                self._prune(key, limit)
            self._segments[number] = set()
            self._touched.add(number)
            self._directory.discard(number)

    def _prune(self, key: bytes, limit: int) -> None:
        timeline = self.of(key)
        old = sorted(position for position in timeline if position[0] <= limit)
        # What held at the limit still answers questions about times after it.
        keep = old[-1] if self._keeps_latest and old and timeline[old[-1]] is not None else None
        for position in old:
            if position != keep:
                del timeline[position]
                self._dirty[key] = None


def _read(data: bytes | None) -> Timeline:
    timeline: Timeline = {}
    at = 0
    while data is not None and at < len(data):
        first, second, size = struct.unpack_from(">qqi", data, at)
        at += 20
        timeline[first, second] = None if size < 0 else data[at : at + size]
        at += max(size, 0)
    return timeline


def _written(timeline: Timeline) -> bytes:
    return b"".join(
        struct.pack(">qqi", *position, -1 if value is None else len(value)) + (value or b"")
        for position, value in sorted(timeline.items())
    )


def _split(data: bytes | None) -> set[bytes]:
    keys = set()
    at = 0
    while data is not None and at < len(data):
        (size,) = struct.unpack_from(">i", data, at)
        keys.add(data[at + 4 : at + 4 + size])
        at += 4 + size
    return keys


def _joined(keys: set[bytes]) -> bytes:
    return b"".join(struct.pack(">i", len(key)) + key for key in sorted(keys))


def _longs(data: bytes | None) -> set[int]:
    return set() if data is None else set(struct.unpack(f">{len(data) // 8}q", data))


def _packed(numbers: set[int]) -> bytes | None:
    return struct.pack(f">{len(numbers)}q", *sorted(numbers)) if numbers else None
