"""What a processor meets as its context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemill.dsl import Punctuation, Record, RecordMetadata
from tidemill.engine.python.schedule import Punctuator, Schedule
from tidemill.engine.python.stores import ReadOnly
from tidemill.errors import UsageError
from tidemill.time import Duration, milliseconds

if TYPE_CHECKING:
    from tidemill.engine.python.nodes import Node
    from tidemill.engine.python.task import PythonTask

_CLOCKS = {"wall-clock": Punctuation.WALL_CLOCK_TIME}


class Context:
    """The task as one processor sees it: its children, its stores, its schedules."""

    def __init__(
        self, task: PythonTask, node: Node, writable: frozenset[str], readable: frozenset[str]
    ) -> None:
        self._task = task
        self._node = node
        self._writable = writable
        self._readable = readable

    @property
    def application_id(self) -> str:
        """The id of the application."""
        return self._task.application_id

    @property
    def task_id(self) -> str:
        """Which task of the application this is."""
        return str(self._task.id)

    @property
    def stream_time(self) -> int:
        """The largest record time this task has seen."""
        return self._task.stream_time

    def forward(self, record: Record, child: str | None = None) -> None:
        """Hand a record to all children, or to the one named."""
        if not isinstance(record, Record):
            raise UsageError(
                f"forward takes a Record, not {type(record).__name__}",
                remedy="write `record.with_value(...)` or `Record(key, value, timestamp)`",
            )
        self._node.check(record)
        self._node.forward(record, child)

    def schedule(
        self,
        interval: Duration,
        punctuation: Punctuation | str,
        punctuator: Punctuator,
        *,
        start: int | None = None,
    ) -> Schedule:
        """Call the punctuator with the time, again and again."""
        clock = _CLOCKS.get(punctuation) or Punctuation(punctuation)
        every = milliseconds(interval, what="the interval")
        now = self._task.clock if clock is Punctuation.WALL_CLOCK_TIME else None
        if start is not None:
            missed = 0 if now is None else max(0, -((start - now) // max(every, 1)))
            first = start + missed * every
        else:
            first = 0 if now is None else now + every
        return self._task.schedules.add(self._node.name, clock, every, first, punctuator)

    def state_store(self, name: str) -> Any:
        """A store this processor is connected to, or a global one."""
        if name in self._writable:
            return self._task.stores[name]
        if name in self._readable:
            return ReadOnly(self._task.stores[name])
        have = ", ".join(sorted(self._writable | self._readable)) or "none"
        raise UsageError(
            f"`{self._node.name}` is not connected to a store `{name}`",
            remedy=f"connect it with stores=[...]; it has: {have}",
        )

    def record_metadata(self) -> RecordMetadata | None:
        """Where the current record was read; None in a punctuator, and behind another stateful step."""
        return self._task.metadata

    def current_stream_time_ms(self) -> int:
        """The largest record time this task has seen; -1 before the first record."""
        return self._task.stream_time

    def current_system_time_ms(self) -> int:
        """The wall clock."""
        return self._task.clock

    def commit(self) -> None:
        """Ask for a commit soon: every batch commits, so there is nothing to do."""

    def app_configs(self) -> Mapping[str, Any]:
        """The configuration of the application."""
        return self._task.configs
