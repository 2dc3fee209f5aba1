"""The stores as a processor meets them: what it may ask of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from tidemill.serde.windowed import Windowed


@dataclass(frozen=True, slots=True)
class VersionedRecord:
    """A value with the time it holds from, and up to (None: it is the latest)."""

    value: Any
    timestamp: int
    valid_to: int | None = None


@dataclass(frozen=True, slots=True)
class ValueAndTimestamp:
    """What a timestamped store holds: a value, its time, and headers if they are to be kept.

    >>> ValueAndTimestamp("paid", 1000).timestamp
    1000
    """

    value: Any
    timestamp: int
    headers: tuple[tuple[str, bytes | None], ...] = ()


class KeyValueStore(Protocol):
    """One value per key; None deletes."""

    def get(self, key: Any) -> Any:
        """The value of a key, or None."""

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key; None deletes it."""

    def put_if_absent(self, key: Any, value: Any) -> Any:
        """Set the value where there is none; what was there before."""

    def put_all(self, entries: Iterable[tuple[Any, Any]]) -> None:
        """Set several values."""

    def delete(self, key: Any) -> Any:
        """Remove a key; its last value."""

    def range(self, first: Any = None, last: Any = None) -> Iterator[tuple[Any, Any]]:
        """Entries of keys between two, both inclusive, in the order of their bytes; None is an open end."""

    def reverse_range(self, first: Any = None, last: Any = None) -> Iterator[tuple[Any, Any]]:
        """As `range`, the last first."""

    def all(self) -> Iterator[tuple[Any, Any]]:
        """All entries in the order of their keys' bytes."""

    def reverse_all(self) -> Iterator[tuple[Any, Any]]:
        """As `all`, the last first."""

    def prefix_scan(self, prefix: bytes) -> Iterator[tuple[Any, Any]]:
        """Entries whose key's bytes begin with these."""

    def approximate_num_entries(self) -> int:
        """About how many entries there are."""


class VersionedKeyValueStore(Protocol):
    """The history of each key."""

    def put(self, key: Any, value: Any, timestamp: int) -> int | None:
        """Set the value from a time on; until when it holds, or None for the latest."""

    def delete(self, key: Any, timestamp: int) -> VersionedRecord | None:
        """Remove the value from a time on; what held at that time."""

    def get(self, key: Any, as_of: int | None = None) -> VersionedRecord | None:
        """The latest value, or the one that held at a time."""


class WindowStore(Protocol):
    """One value per key and window start."""

    def put(self, key: Any, value: Any, window_start: int) -> None:
        """Set the value of a key in the window that starts then."""

    def fetch(self, key: Any, window_start: int) -> Any:
        """The value of a key in the window that starts then, or None."""

    def fetch_range(self, key: Any, first: int, last: int) -> Iterator[tuple[int, Any]]:
        """Window starts and values of a key, for starts between two times, both inclusive."""

    def backward_fetch_range(self, key: Any, first: int, last: int) -> Iterator[tuple[int, Any]]:
        """As `fetch_range`, the latest first."""

    def fetch_keys(
        self, first_key: Any, last_key: Any, first: int, last: int
    ) -> Iterator[tuple[Windowed, Any]]:
        """Entries of keys between two, for starts between two times, all inclusive; None is an open end."""

    def backward_fetch_keys(
        self, first_key: Any, last_key: Any, first: int, last: int
    ) -> Iterator[tuple[Windowed, Any]]:
        """As `fetch_keys`, the latest first."""

    def fetch_all(self, first: int, last: int) -> Iterator[tuple[Windowed, Any]]:
        """Entries of all keys, for starts between two times, both inclusive."""

    def backward_fetch_all(self, first: int, last: int) -> Iterator[tuple[Windowed, Any]]:
        """As `fetch_all`, the latest first."""

    def all(self) -> Iterator[tuple[Windowed, Any]]:
        """All entries."""

    def backward_all(self) -> Iterator[tuple[Windowed, Any]]:
        """All entries, the latest first."""


class SessionStore(Protocol):
    """One value per key and session."""

    def put(self, session: Windowed, value: Any) -> None:
        """Set the value of a session."""

    def remove(self, session: Windowed) -> None:
        """Remove a session."""

    def fetch(self, key: Any) -> Iterator[tuple[Windowed, Any]]:
        """All sessions of a key."""

    def backward_fetch(self, key: Any) -> Iterator[tuple[Windowed, Any]]:
        """As `fetch`, the latest first."""

    def fetch_keys(self, first_key: Any, last_key: Any) -> Iterator[tuple[Windowed, Any]]:
        """All sessions of keys between two, both inclusive; None is an open end."""

    def backward_fetch_keys(self, first_key: Any, last_key: Any) -> Iterator[tuple[Windowed, Any]]:
        """As `fetch_keys`, the latest first."""

    def fetch_session(self, key: Any, start: int, end: int) -> Any:
        """The value of one session, or None."""

    def find_sessions(self, key: Any, earliest_end: int, latest_start: int) -> Iterator[tuple[Windowed, Any]]:
        """Sessions of a key that end at the earliest then and start at the latest then."""

    def backward_find_sessions(
        self, key: Any, earliest_end: int, latest_start: int
    ) -> Iterator[tuple[Windowed, Any]]:
        """As `find_sessions`, the latest first."""

    def find_sessions_by_end(self, earliest_end: int, latest_end: int) -> Iterator[tuple[Windowed, Any]]:
        """Sessions of all keys that end between two times, both inclusive, by their ends."""

    def all(self) -> Iterator[tuple[Windowed, Any]]:
        """All sessions of all keys, by their ends."""
