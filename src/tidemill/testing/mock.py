"""A context to test one processor by itself: no topology, no Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemill.dsl import Punctuation, Record, RecordMetadata
from tidemill.errors import UsageError
from tidemill.time import Duration, milliseconds
from tidemill.topology import StoreSpec

Punctuator = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class CapturedForward:
    """A record the processor forwarded, and the child it named, if it named one."""

    record: Record
    child: str | None = None


@dataclass(slots=True)
class CapturedPunctuator:
    """A schedule the processor asked for; `fire` calls it as the task would."""

    interval: int
    punctuation: Punctuation
    punctuator: Punctuator
    start: int | None = None
    cancelled: bool = field(default=False)

    def cancel(self) -> None:
        """Never call the punctuator again."""
        self.cancelled = True

    def fire(self, time: int) -> None:
        """Call the punctuator with a time, unless it was cancelled."""
        if not self.cancelled:
            self.punctuator(time)


class MockProcessorContext:
    """What a processor gets as its context in a test of its own; it notes everything the processor asks for.

    >>> from tidemill.dsl import Processor, Record
    >>> class Doubled(Processor):
    ...     def process(self, record):
    ...         self.context.forward(record.with_value(record.value * 2))
    >>> context, doubled = MockProcessorContext(), Doubled()
    >>> doubled.init(context)
    >>> doubled.process(Record("oslo", 3, 1000))
    >>> [each.record.value for each in context.forwarded()]
    [6]
    """

    def __init__(
        self,
        *stores: StoreSpec,
        config: Mapping[str, Any] | None = None,
        application_id: str = "test",
        task_id: str = "0",
    ) -> None:
        self.application_id = application_id
        self.task_id = task_id
        self.stream_time = -1
        self.scheduled_punctuators: list[CapturedPunctuator] = []
        self.committed = False
        self._config = dict(config or {})
        self._forwarded: list[CapturedForward] = []
        self._metadata: RecordMetadata | None = None
        self._system_time = 0
        self._stores: dict[str, Any] = {}
        for store in stores:
            self.add_state_store(store)

    def add_state_store(self, store: StoreSpec) -> Any:
        """A store in memory, of the kind declared; returned to be looked into."""
        from tidemill.engine.python.cells import Cells, DictBackend
        from tidemill.engine.python.stores import open_store

        self._stores[store.name] = open_store(store, Cells(DictBackend()))
        return self._stores[store.name]

    def forwarded(self, child: str | None = None) -> list[CapturedForward]:
        """What was forwarded so far: everything, or what the child of this name would get."""
        return [each for each in self._forwarded if child is None or each.child in (None, child)]

    def reset_forwards(self) -> None:
        """Forget what was forwarded."""
        self._forwarded.clear()

    def set_record_metadata(self, topic: str, partition: int = 0, offset: int = 0) -> None:
        """Say where the current record was read."""
        self._metadata = RecordMetadata(topic, partition, offset)

    def set_current_stream_time_ms(self, time: int) -> None:
        """Say what the largest record time is."""
        self.stream_time = time

    def set_current_system_time_ms(self, time: int) -> None:
        """Set the wall clock."""
        self._system_time = time

    # What processors call

    def forward(self, record: Record, child: str | None = None) -> None:
        """Note a record that is forwarded."""
        if not isinstance(record, Record):
            raise UsageError(
                f"forward takes a Record, not {type(record).__name__}",
                remedy="write `record.with_value(...)` or `Record(key, value, timestamp)`",
            )
        self._forwarded.append(CapturedForward(record, child))

    def schedule(
        self,
        interval: Duration,
        punctuation: Punctuation | str,
        punctuator: Punctuator,
        *,
        start: int | None = None,
    ) -> CapturedPunctuator:
        """Note a schedule."""
        every = milliseconds(interval, what="the interval")
        captured = CapturedPunctuator(every, Punctuation(punctuation), punctuator, start)
        self.scheduled_punctuators.append(captured)
        return captured

    def state_store(self, name: str) -> Any:
        """A store that was added."""
        if name not in self._stores:
            have = ", ".join(sorted(self._stores)) or "none"
            raise UsageError(
                f"there is no store `{name}`", remedy=f"add it with add_state_store(); there are: {have}"
            )
        return self._stores[name]

    def record_metadata(self) -> RecordMetadata | None:
        """What was set."""
        return self._metadata

    def current_stream_time_ms(self) -> int:
        """What was set; -1 before."""
        return self.stream_time

    def current_system_time_ms(self) -> int:
        """What was set; 0 before."""
        return self._system_time

    def commit(self) -> None:
        """Note that a commit was asked for."""
        self.committed = True

    def app_configs(self) -> Mapping[str, Any]:
        """The configuration given."""
        return self._config
