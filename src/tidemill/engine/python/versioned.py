"""Versioned stores of processors: the history of each key."""

from __future__ import annotations

from typing import Any

from tidemill.dsl import VersionedRecord
from tidemill.engine.python.cells import Cells
from tidemill.engine.python.codec import codec, required
from tidemill.engine.python.timelines import Timelines
from tidemill.topology import StoreSpec


class CellsVersionedStore:
    """Values by key and the time they hold from; history older than the retention is forgotten."""

    def __init__(self, spec: StoreSpec, cells: Cells) -> None:
        assert spec.retention is not None
        self.name = spec.name
        self._times = Timelines(cells, spec.retention, keeps_latest=True)
        self._keys, self._values = codec(spec.key), codec(spec.value)

    def put(self, key: Any, value: Any, timestamp: int) -> int | None:
        """Set the value from a time on; until when it holds, or None for the latest.

        A time that is older than the store keeps history is refused: it holds until itself.
        """
        expired = self._times.expired
        if expired is not None and timestamp < expired:
            return timestamp
        data = self._key(key)
        self._times.put(data, (timestamp, 0), self._values.encode(value))
        return min((time for time, _ in self._times.of(data) if time > timestamp), default=None)

    def delete(self, key: Any, timestamp: int) -> VersionedRecord | None:
        """Remove the value from a time on; what held at that time."""
        before = self.get(key, timestamp)
        self.put(key, None, timestamp)
        return before

    def get(self, key: Any, as_of: int | None = None) -> VersionedRecord | None:
        """The latest value, or the one that held at a time."""
        history = self._times.of(self._key(key))
        moments = sorted(time for time, _ in history)
        held = [time for time in moments if as_of is None or time <= as_of]
        if not held:
            return None
        valid_to = min((time for time in moments if time > held[-1]), default=None)
        if as_of is not None and valid_to is not None and self._is_forgotten(as_of):
            return None
        value = history[held[-1], 0]
        return None if value is None else VersionedRecord(self._values.decode(value), held[-1], valid_to)

    def save(self) -> None:
        """Forget what is too old and write down what changed."""
        self._times.save()

    def _is_forgotten(self, time: int) -> bool:
        return self._times.expired is not None and time < self._times.expired

    def _key(self, key: Any) -> bytes:
        return required("key", self.name, self._keys.encode(key))
