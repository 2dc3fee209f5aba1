"""The topics of a test driver: records are piped into one kind and read from the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemill.errors import UsageError
from tidemill.serde.base import Serde
from tidemill.time import Duration, milliseconds

if TYPE_CHECKING:
    from tidemill.testing.driver import TopologyTestDriver

Headers = Sequence[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class TestRecord:
    """One record: what is piped in, or what came out."""

    key: Any
    value: Any
    timestamp: int | None = None
    headers: Headers = ()


class TestInputTopic:
    """A topic of the driver that takes records.

    A record without a timestamp gets the topic's own: it begins at `start` and moves on by `auto_advance`
    with every record that takes it.
    """

    __test__ = False

    def __init__(
        self,
        driver: TopologyTestDriver,
        topic: str,
        key: Serde,
        value: Serde,
        *,
        start: int = 0,
        auto_advance: Duration = 0,
    ) -> None:
        self._driver, self._topic, self._key, self._value = driver, topic, key, value
        self._time = _valid(start)
        self._step = milliseconds(auto_advance, what="auto_advance")

    def pipe_input(
        self, key: Any, value: Any, *, timestamp: int | None = None, headers: Headers = ()
    ) -> None:
        """Process one record; its results can be read when this returns."""
        self.pipe_record_list([TestRecord(key, value, timestamp, headers)])

    def pipe_value(self, value: Any, *, timestamp: int | None = None, headers: Headers = ()) -> None:
        """Process one record without a key."""
        self.pipe_input(None, value, timestamp=timestamp, headers=headers)

    def pipe_record(self, record: TestRecord) -> None:
        """Process one record."""
        self.pipe_record_list([record])

    def pipe_values(
        self, values: Iterable[Any], *, timestamp: int | None = None, advance: Duration | None = None
    ) -> None:
        """Process records without keys, one after the other.

        The first is at `timestamp`, each other one `advance` later; without them, at the topic's own time.
        """
        self.pipe_key_value_list(((None, value) for value in values), timestamp=timestamp, advance=advance)

    def pipe_key_value_list(
        self,
        pairs: Iterable[tuple[Any, Any]],
        *,
        timestamp: int | None = None,
        advance: Duration | None = None,
    ) -> None:
        """Process pairs of key and value, one after the other; times as in `pipe_values`."""
        step = 0 if advance is None else milliseconds(advance, what="advance")
        if timestamp is None and advance is not None:
            raise UsageError("advance= needs a time to begin at", remedy="give timestamp= as well")
        self.pipe_record_list(
            TestRecord(key, value, None if timestamp is None else timestamp + number * step)
            for number, (key, value) in enumerate(pairs)
        )

    def pipe_record_list(self, records: Iterable[TestRecord]) -> None:
        """Process records one after the other, each as if it were a batch of its own.

        Nothing waits between two of them: a long list is much quicker than as many calls of `pipe_input`.
        """
        self._driver._pipe([(self._topic, *self._written(record)) for record in records])

    def advance_time(self, duration: Duration) -> None:
        """Let the topic's own time move on."""
        self._time += milliseconds(duration, what="the time to advance by")

    def _written(self, record: TestRecord) -> tuple[bytes | None, bytes | None, int, Headers]:
        time = record.timestamp
        if time is None:
            time, self._time = self._time, self._time + self._step
        return self._key.encode(record.key), self._value.encode(record.value), _valid(time), record.headers


class TestOutputTopic:
    """A topic of the driver that results are read from; what was read is gone from it."""

    __test__ = False

    def __init__(self, driver: TopologyTestDriver, topic: str, key: Serde, value: Serde) -> None:
        self._driver, self._topic, self._key, self._value = driver, topic, key, value

    def read_record(self) -> TestRecord:
        """The oldest result that was not read; an error if there is none."""
        waiting = self._driver._outputs.get(self._topic)
        if not waiting:
            raise UsageError(
                f"there is nothing to read in `{self._topic}`",
                remedy="ask is_empty() first, or read_records() for all there are",
            )
        return self._decoded(waiting.popleft())

    def read_value(self) -> Any:
        """The value of `read_record`."""
        return self.read_record().value

    def read_key_value(self) -> tuple[Any, Any]:
        """Key and value of `read_record`."""
        record = self.read_record()
        return record.key, record.value

    def read_records(self) -> list[TestRecord]:
        """All results since the last read."""
        return [self._decoded(record) for record in self._driver._outputs.pop(self._topic, ())]

    def read_records_to_list(self) -> list[TestRecord]:
        """All results since the last read: Kafka Streams' name of `read_records`."""
        return self.read_records()

    def read_values_to_list(self) -> list[Any]:
        """The values of all results since the last read."""
        return [record.value for record in self.read_records()]

    def read_key_values_to_list(self) -> list[tuple[Any, Any]]:
        """Keys and values of all results since the last read."""
        return [(record.key, record.value) for record in self.read_records()]

    def read_key_values_to_map(self) -> dict[Any, Any]:
        """The last value of each key among all results since the last read."""
        return dict(self.read_key_values_to_list())

    def is_empty(self) -> bool:
        """Whether all results were read."""
        return self.queue_size() == 0

    def queue_size(self) -> int:
        """How many results wait to be read."""
        return len(self._driver._outputs.get(self._topic, ()))

    def _decoded(self, record: TestRecord) -> TestRecord:
        key, value = self._key.decode(record.key), self._value.decode(record.value)
        return TestRecord(key, value, record.timestamp, record.headers)


TestRecord.__test__ = False  # type: ignore[attr-defined]


def _valid(timestamp: int) -> int:
    if timestamp < 0:
        raise UsageError(f"the timestamp {timestamp} is negative", remedy="give milliseconds since the epoch")
    return timestamp
