"""The bytes of one store of one task: read when asked for, held in memory, written back once per batch."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from tidemill.engine.python.failure import StateError

_KEPT = 100_000
"""Beyond so many entries a save also forgets them: memory stays bounded, the state store has them all."""


class Backend(Protocol):
    """Where bytes live between batches."""

    def get(self, key: bytes) -> bytes | None:
        """The bytes of a key, or None."""

    def put(self, key: bytes, value: bytes) -> None:
        """Set the bytes of a key."""

    def remove(self, key: bytes) -> None:
        """Remove a key."""

    def items(self) -> Iterable[tuple[bytes, bytes]]:
        """Everything, in any order."""


class DictBackend:
    """A backend in memory."""

    def __init__(self) -> None:
        self.data: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        """The bytes of a key, or None."""
        return self.data.get(key)

    def put(self, key: bytes, value: bytes) -> None:
        """Set the bytes of a key."""
        self.data[key] = value

    def remove(self, key: bytes) -> None:
        """Remove a key."""
        self.data.pop(key, None)

    def items(self) -> Iterable[tuple[bytes, bytes]]:
        """Everything, in any order."""
        return list(self.data.items())


class MapStateBackend:
    """A backend in a map state of Spark; every call goes to the JVM."""

    def __init__(self, state: Any) -> None:
        self._state = state

    def get(self, key: bytes) -> bytes | None:
        """The bytes of a key, or None."""
        with _state():
            found = self._state.getValue((key,))
        return None if found is None else bytes(found[0])

    def put(self, key: bytes, value: bytes) -> None:
        """Set the bytes of a key."""
        with _state():
            self._state.updateValue((key,), (value,))

    def remove(self, key: bytes) -> None:
        """Remove a key."""
        with _state():
            self._state.removeKey((key,))

    def items(self) -> Iterable[tuple[bytes, bytes]]:
        """Everything, in any order."""
        with _state():
            return [(bytes(key[0]), bytes(value[0])) for key, value in self._state.iterator()]


@contextmanager
def _state() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise StateError(f"the state of the task is out of reach: {error}") from error


class Cells:
    """Entries by key, ordered by the keys' bytes, with what changed since the last save in memory.

    Spark's map state has no order, so the first scan reads the whole store of the task; from then on the
    ordered keys stay in memory with the task.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._values: dict[bytes, bytes | None] = {}
        self._dirty: dict[bytes, None] = {}
        self._keys: list[bytes] | None = None

    def attach(self, backend: Backend) -> None:
        """Go on with another batch's handle on the same state."""
        self._backend = backend

    def get(self, key: bytes) -> bytes | None:
        """The bytes of a key, or None."""
        if key not in self._values:
            if self._keys is not None:
                return None
            self._values[key] = self._backend.get(key)
        return self._values[key]

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set the bytes of a key; None removes it."""
        if self._keys is not None:
            self._note(key, there=value is not None)
        self._values[key] = value
        self._dirty[key] = None

    def scan(
        self, first: bytes | None = None, last: bytes | None = None, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Entries between two keys, both inclusive, as the keys are now; None is an open end."""
        keys = self._ordered()
        start = 0 if first is None else bisect_left(keys, first)
        end = len(keys) if last is None else bisect_right(keys, last)
        yield from self._present(keys[start:end], reverse)

    def prefixed(self, prefix: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Entries whose keys begin with these bytes."""
        keys = self._ordered()
        start = bisect_left(keys, prefix)
        end = start
        while end < len(keys) and keys[end].startswith(prefix):
            end += 1
        yield from self._present(keys[start:end], reverse=False)

    def __len__(self) -> int:
        return len(self._ordered())

    def save(self) -> None:
        """Write down what changed."""
        for key in self._dirty:
            value = self._values[key]
            if value is None:
                self._backend.remove(key)
            else:
                self._backend.put(key, value)
        self._dirty.clear()
        if len(self._values) > _KEPT:
            self._values.clear()
            self._keys = None

    def _present(self, keys: list[bytes], reverse: bool) -> Iterator[tuple[bytes, bytes]]:
        for key in reversed(keys) if reverse else keys:
            value = self.get(key)
            if value is not None:
                yield key, value

    def _ordered(self) -> list[bytes]:
        if self._keys is None:
            for key, value in self._backend.items():
                self._values.setdefault(key, value)
            self._keys = sorted(key for key, value in self._values.items() if value is not None)
        return self._keys

    def _note(self, key: bytes, *, there: bool) -> None:
        assert self._keys is not None
        position = bisect_left(self._keys, key)
        known = position < len(self._keys) and self._keys[position] == key
        if there and not known:
            insort(self._keys, key)
        elif known and not there:
            del self._keys[position]
