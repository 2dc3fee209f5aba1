"""The Processor API: what the user's own processors are made of, and what they get."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from tidemill.time import Duration
from tidemill.topology import StoreSpec

Headers = Sequence[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Record:
    """A record as a processor sees it; to change it, make another.

    >>> Record("oslo", 3, 1000).with_value(4)
    Record(key='oslo', value=4, timestamp=1000, headers=())
    """

    key: Any
    value: Any
    timestamp: int
    headers: Headers = ()

    def with_key(self, key: Any) -> Record:
        """The same record under another key.

        >>> Record("oslo", 3, 1000).with_key("bergen").key
        'bergen'
        """
        return replace(self, key=key)

    def with_value(self, value: Any) -> Record:
        """The same record with another value.

        >>> Record("oslo", 3, 1000).with_value(None).value is None
        True
        """
        return replace(self, value=value)

    def with_timestamp(self, timestamp: int) -> Record:
        """The same record at another time (epoch milliseconds).

        >>> Record("oslo", 3, 1000).with_timestamp(2000).timestamp
        2000
        """
        return replace(self, timestamp=timestamp)

    def with_headers(self, headers: Headers) -> Record:
        """The same record with other headers.

        >>> Record("oslo", 3, 1000).with_headers([("source", b"web")]).headers
        [('source', b'web')]
        """
        return replace(self, headers=headers)


@dataclass(frozen=True, slots=True)
class RecordMetadata:
    """Where the record being processed was read."""

    topic: str
    partition: int
    offset: int


class Punctuation(StrEnum):
    """The clock of a schedule: that of the records or that of the wall."""

    STREAM_TIME = "stream-time"
    WALL_CLOCK_TIME = "wall-clock-time"


class Cancellable(Protocol):
    """A schedule that can be ended."""

    def cancel(self) -> None:
        """Never call the punctuator again."""


class ProcessorContext(Protocol):
    """What a processor may ask of the task it runs in."""

    @property
    def application_id(self) -> str:
        """The id of the application."""

    @property
    def task_id(self) -> str:
        """Which task of the application this is."""

    def forward(self, record: Record, child: str | None = None) -> None:
        """Hand a record to all children, or to the one named."""

    def schedule(
        self,
        interval: Duration,
        punctuation: Punctuation,
        punctuator: Callable[[int], None],
        *,
        start: int | None = None,
    ) -> Cancellable:
        """Call the punctuator with the time, again and again."""

    def state_store(self, name: str) -> Any:
        """A store this processor is connected to, or a global one."""

    def record_metadata(self) -> RecordMetadata | None:
        """Where the current record was read; None in a punctuator."""

    def current_stream_time_ms(self) -> int:
        """The largest record time this task has seen."""

    def current_system_time_ms(self) -> int:
        """The wall clock."""

    def commit(self) -> None:
        """Ask for a commit soon."""

    def app_configs(self) -> Mapping[str, Any]:
        """The configuration of the application."""


class Processor:
    """Base of processors: override `process`; `init` keeps the context.

    Attributes are not state: a worker that is replaced begins with a new object and calls `init` again.
    What has to last belongs in a store.

    >>> class Doubled(Processor):
    ...     def process(self, record):
    ...         self.context.forward(record.with_value(record.value * 2))
    """

    stores: ClassVar[Sequence[StoreSpec]] = ()
    """Stores this class brings; they are declared and connected where it is used."""
    context: ProcessorContext

    def init(self, context: ProcessorContext) -> None:
        """Called once per task, before the first record."""
        self.context = context

    def process(self, record: Record) -> None:
        """Called with each record; the base forwards it as it is."""
        self.context.forward(record)

    def close(self) -> None:
        """Called once, after the last record."""


class FixedKeyProcessor(Processor):
    """Base of processors for `process_values`: what they forward must have the key they got."""


class ValueTransformer(Processor):
    """Base of `KTable.transform_values`: override `transform`, which returns the new value."""

    def transform(self, key: Any, value: Any) -> Any:  # noqa: ARG002  the base keeps the value
        """The new value of a row; a deletion comes as None."""
        return value
