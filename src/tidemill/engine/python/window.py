"""Window and session stores of processors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tidemill.engine.python.cells import Cells
from tidemill.engine.python.codec import codec, required, value_codec
from tidemill.engine.python.timelines import Position, Timelines
from tidemill.serde.windowed import Windowed
from tidemill.topology import StoreSpec

Entry = tuple[Windowed, Any]
"""A key with its window, and its value."""


class _TimedStore:
    """What both kinds share: keys, values, and entries that age."""

    def __init__(self, spec: StoreSpec, cells: Cells) -> None:
        assert spec.retention is not None
        self.name = spec.name
        self._times = Timelines(cells, spec.retention)
        self._keys, self._values = codec(spec.key), value_codec(spec)

    def save(self) -> None:
        """Forget what is too old and write down what changed."""
        self._times.save()

    def _key(self, key: Any) -> bytes:
        return required("key", self.name, self._keys.encode(key))

    def _set(self, key: Any, position: Position, value: Any) -> None:
        self._times.observe(position[0])
        if not self._lives(position):
            return
        if value is None:
            self._times.remove(self._key(key), position)
        else:
            self._times.put(self._key(key), position, self._values.encode(value))

    def _one(self, key: Any, position: Position) -> Any:
        if not self._lives(position):
            return None
        return self._values.decode(self._times.of(self._key(key)).get(position))

    def _entries(self, key: bytes) -> list[tuple[Position, Any]]:
        living = sorted(item for item in self._times.of(key).items() if self._lives(item[0]))
        return [(position, self._values.decode(value)) for position, value in living]

    def _everything(self, first: Any = None, last: Any = None) -> list[tuple[Position, bytes, Any]]:
        """Entries of keys between two, by time and key; None is an open end."""
        low, high = self._keys.encode(first), self._keys.encode(last)
        keys = [
            key
            for key in self._times.all_keys()
            if (low is None or key >= low) and (high is None or key <= high)
        ]
        found = [(position, key, value) for key in keys for position, value in self._entries(key)]
        return sorted(found, key=lambda entry: entry[:2])

    def _lives(self, position: Position) -> bool:
        expired = self._times.expired
        return expired is None or position[0] > expired


class CellsWindowStore(_TimedStore):
    """One value per key and window start."""

    def put(self, key: Any, value: Any, window_start: int) -> None:
        """Set the value of a key in the window that starts then; None deletes, what is too old is ignored."""
        self._set(key, (window_start, 0), value)

    def fetch(self, key: Any, window_start: int) -> Any:
        """The value of a key in the window that starts then, or None."""
        return self._one(key, (window_start, 0))

    def fetch_range(self, key: Any, first: int, last: int) -> Iterator[tuple[int, Any]]:
        """Window starts and values of a key, for starts between two times, both inclusive."""
        for (start, _), value in self._entries(self._key(key)):
            if first <= start <= last:
                yield start, value

    def backward_fetch_range(self, key: Any, first: int, last: int) -> Iterator[tuple[int, Any]]:
        """As `fetch_range`, the latest first."""
        yield from reversed(list(self.fetch_range(key, first, last)))

    def fetch_keys(self, first_key: Any, last_key: Any, first: int, last: int) -> Iterator[Entry]:
        """Entries of keys between two, for starts between two times, all inclusive; None is an open end."""
        for (start, _), key, value in self._everything(first_key, last_key):
            if first <= start <= last:
                yield Windowed(self._keys.decode(key), start, None), value

    def backward_fetch_keys(self, first_key: Any, last_key: Any, first: int, last: int) -> Iterator[Entry]:
        """As `fetch_keys`, the latest first."""
        yield from reversed(list(self.fetch_keys(first_key, last_key, first, last)))

    def fetch_all(self, first: int, last: int) -> Iterator[Entry]:
        """Entries of all keys by start and key, for starts between two times, both inclusive."""
        return self.fetch_keys(None, None, first, last)

    def backward_fetch_all(self, first: int, last: int) -> Iterator[Entry]:
        """As `fetch_all`, the latest first."""
        return self.backward_fetch_keys(None, None, first, last)

    def all(self) -> Iterator[Entry]:
        """All entries, by start and key."""
        for (start, _), key, value in self._everything():
            yield Windowed(self._keys.decode(key), start, None), value

    def backward_all(self) -> Iterator[Entry]:
        """All entries, the latest first."""
        yield from reversed(list(self.all()))


class CellsSessionStore(_TimedStore):
    """One value per key and session; a session ages by its end."""

    def put(self, session: Windowed, value: Any) -> None:
        """Set the value of a session; None removes it."""
        self._set(session.key, _position(session), value)

    def remove(self, session: Windowed) -> None:
        """Remove a session."""
        self._times.remove(self._key(session.key), _position(session))

    def fetch(self, key: Any) -> Iterator[Entry]:
        """All sessions of a key, by end and start."""
        for (end, start), value in self._entries(self._key(key)):
            yield Windowed(key, start, end), value

    def backward_fetch(self, key: Any) -> Iterator[Entry]:
        """As `fetch`, the latest first."""
        yield from reversed(list(self.fetch(key)))

    def fetch_keys(self, first_key: Any, last_key: Any) -> Iterator[Entry]:
        """All sessions of keys between two, both inclusive; None is an open end."""
        for (end, start), key, value in self._everything(first_key, last_key):
            yield Windowed(self._keys.decode(key), start, end), value

    def backward_fetch_keys(self, first_key: Any, last_key: Any) -> Iterator[Entry]:
        """As `fetch_keys`, the latest first."""
        yield from reversed(list(self.fetch_keys(first_key, last_key)))

    def fetch_session(self, key: Any, start: int, end: int) -> Any:
        """The value of one session, or None."""
        return self._one(key, (end, start))

    def find_sessions(self, key: Any, earliest_end: int, latest_start: int) -> Iterator[Entry]:
        """Sessions of a key that end at the earliest then and start at the latest then."""
        for session, value in self.fetch(key):
            assert session.end is not None
            if session.end >= earliest_end and session.start <= latest_start:
                yield session, value

    def backward_find_sessions(self, key: Any, earliest_end: int, latest_start: int) -> Iterator[Entry]:
        """As `find_sessions`, the latest first."""
        yield from reversed(list(self.find_sessions(key, earliest_end, latest_start)))

    def find_sessions_by_end(self, earliest_end: int, latest_end: int) -> Iterator[Entry]:
        """Sessions of all keys that end between two times, both inclusive, by their ends."""
        for session, value in self.all():
            assert session.end is not None
            if earliest_end <= session.end <= latest_end:
                yield session, value

    def all(self) -> Iterator[Entry]:
        """All sessions of all keys, by end, start and key."""
        return self.fetch_keys(None, None)


def _position(session: Windowed) -> Position:
    assert session.end is not None
    return session.end, session.start
