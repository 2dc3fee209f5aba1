"""Punctuators: what is due when, by the records' clock or by the wall's."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tidemill.dsl import Punctuation
from tidemill.engine.python.cells import Cells
from tidemill.errors import UsageError

Punctuator = Callable[[int], None]


@dataclass(slots=True)
class Schedule:
    """One schedule of a processor: the next time it is due, on a grid that missed ticks do not shift."""

    node: str
    number: int
    clock: Punctuation
    interval: int
    due: int
    punctuator: Punctuator
    cancelled: bool = False

    def cancel(self) -> None:
        """Never call the punctuator again."""
        self.cancelled = True

    def advance(self, now: int) -> None:
        """The next time on the grid that is after now; what was missed is not made up for."""
        missed = max(0, (now - self.due) // self.interval)
        self.due += (missed + 1) * self.interval


class Schedules:
    """The schedules of a task's processors.

    When each is due is part of the state, so that a processor made anew goes on where the last one was.
    """

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._all: list[Schedule] = []
        self._counts: dict[str, int] = {}

    def add(
        self, node: str, clock: Punctuation, interval: int, first: int, punctuator: Punctuator
    ) -> Schedule:
        """Schedule a punctuator; where the state knows it already, it stays due as it was."""
        if interval < 1:
            raise UsageError("a schedule needs an interval of at least a millisecond", remedy='write "1 s"')
        number = self._counts[node] = self._counts.get(node, -1) + 1
        schedule = Schedule(node, number, clock, interval, first, punctuator)
        saved = self._cells.get(_key(schedule))
        if saved is not None:
            kind, every, due, cancelled = json.loads(saved)
            if (kind, every) == (clock.value, interval):
                schedule.due, schedule.cancelled = due, cancelled
        self._all.append(schedule)
        return schedule

    def run(self, clock: Punctuation, now: int, call: Callable[[Schedule, int], Any]) -> None:
        """Call whatever is due by this clock, the longest due first."""
        while ready := [s for s in self._all if s.clock is clock and not s.cancelled and s.due <= now]:
            schedule = min(ready, key=lambda each: each.due)
            call(schedule, now)
            schedule.advance(now)

    def has(self, clock: Punctuation) -> bool:
        """Whether anything is scheduled by this clock."""
        return any(s.clock is clock and not s.cancelled for s in self._all)

    def save(self) -> None:
        """Write down when everything is due."""
        for schedule in self._all:
            text = json.dumps([schedule.clock.value, schedule.interval, schedule.due, schedule.cancelled])
            if self._cells.get(_key(schedule)) != text.encode():
                self._cells.put(_key(schedule), text.encode())


def _key(schedule: Schedule) -> bytes:
    return f"schedule/{schedule.node}/{schedule.number}".encode()
