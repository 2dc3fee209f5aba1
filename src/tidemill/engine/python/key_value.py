"""Key-value stores of processors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tidemill.engine.python.cells import Cells
from tidemill.engine.python.codec import codec, required, value_codec
from tidemill.topology import StoreSpec


class CellsKeyValueStore:
    """One value per key; None deletes. Keys are ordered by their bytes."""

    def __init__(self, spec: StoreSpec, cells: Cells) -> None:
        self.name = spec.name
        self._cells = cells
        self._keys, self._values = codec(spec.key), value_codec(spec)

    def get(self, key: Any) -> Any:
        """The value of a key, or None."""
        return self._values.decode(self._cells.get(self._key(key)))

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key; None deletes it."""
        self._cells.put(self._key(key), self._values.encode(value))

    def put_if_absent(self, key: Any, value: Any) -> Any:
        """Set the value where there is none; what was there before."""
        before = self.get(key)
        if before is None:
            self.put(key, value)
        return before

    def put_all(self, entries: Iterable[tuple[Any, Any]]) -> None:
        """Set several values."""
        for key, value in entries:
            self.put(key, value)

    def delete(self, key: Any) -> Any:
        """Remove a key; its last value."""
        before = self.get(key)
        self.put(key, None)
        return before

    def range(self, first: Any = None, last: Any = None) -> Iterator[tuple[Any, Any]]:
        """Entries of keys between two, both inclusive, in the order of their bytes; None is an open end."""
        return self._decoded(self._cells.scan(self._keys.encode(first), self._keys.encode(last)))

    def reverse_range(self, first: Any = None, last: Any = None) -> Iterator[tuple[Any, Any]]:
        """As `range`, the last first."""
        return self._decoded(
            self._cells.scan(self._keys.encode(first), self._keys.encode(last), reverse=True)
        )

    def all(self) -> Iterator[tuple[Any, Any]]:
        """All entries in the order of their keys' bytes."""
        return self._decoded(self._cells.scan())

    def reverse_all(self) -> Iterator[tuple[Any, Any]]:
        """As `all`, the last first."""
        return self._decoded(self._cells.scan(reverse=True))

    def prefix_scan(self, prefix: bytes | str) -> Iterator[tuple[Any, Any]]:
        """Entries whose key's bytes begin with these; text means its UTF-8 bytes."""
        return self._decoded(self._cells.prefixed(prefix.encode() if isinstance(prefix, str) else prefix))

    def approximate_num_entries(self) -> int:
        """How many entries there are."""
        return len(self._cells)

    def save(self) -> None:
        """Write down what changed."""
        self._cells.save()

    def _key(self, key: Any) -> bytes:
        return required("key", self.name, self._keys.encode(key))

    def _decoded(self, entries: Iterator[tuple[bytes, bytes]]) -> Iterator[tuple[Any, Any]]:
        for key, value in entries:
            yield self._keys.decode(key), self._values.decode(value)
