"""A check of the rolling sum: every window must have the sum plain Python makes of the numbers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from tidemill.cli.demo_results import Row
from tidemill.kafka.records import Record

Window = tuple[str, int]


class RollingSumCheck:
    """Keeps the last sum of every window, and compares."""

    def __init__(self, window_ms: int) -> None:
        self._window = window_ms
        self._last: dict[Window, int] = {}

    def take(self, row: Row) -> None:
        """Take note of a result."""
        self._last[row.name, row.key.start] = row.value

    def __len__(self) -> int:
        return len(self._last)

    def is_complete(self, sent: Sequence[Record]) -> bool:
        """Whether every number has come through, in the window it ends."""
        return {_window(record, self._window) for record in sent} <= self._last.keys()

    def wrong(self, sent: Sequence[Record]) -> list[Window]:
        """The windows whose last sum is another."""
        by_key: dict[str, list[tuple[int, int]]] = {}
        for record in sent:
            key, value = (record.key or b"").decode(), int.from_bytes(record.value or b"", signed=True)
            by_key.setdefault(key, []).append((record.timestamp or 0, value))
        for numbers in by_key.values():
            numbers.sort()
        times = {key: [at for at, _ in numbers] for key, numbers in by_key.items()}
        sums = {key: [0, *accumulate(n for _, n in numbers)] for key, numbers in by_key.items()}

        def expected(key: str, start: int) -> int:
            first, last = bisect_left(times[key], start), bisect_right(times[key], start + self._window)
            return sums[key][last] - sums[key][first]

        return [window for window, total in self._last.items() if total != expected(*window)]


def _window(record: Record, size: int) -> Window:
    return (record.key or b"").decode(), (record.timestamp or 0) - size
