"""Writing records to a topic: back-pressure, pacing, and an honest count of what arrived."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tidemill.errors import UsageError
from tidemill.kafka.clients import open_producer
from tidemill.kafka.errors import Subject
from tidemill.kafka.records import Record
from tidemill.kafka.settings import Settings


@dataclass
class Delivered:
    """What became of the records."""

    sent: int = 0
    acknowledged: int = 0
    started: float = field(default_factory=time.monotonic)
    errors: Counter[str] = field(default_factory=Counter)
    first_error: Any = None

    @property
    def failed(self) -> int:
        return sum(self.errors.values())

    @property
    def seconds(self) -> float:
        return max(time.monotonic() - self.started, 1e-9)


class Writer:
    """A producer for one topic."""

    def __init__(
        self, settings: Settings, topic: str, *, rate: float | None = None, verbose: bool = False
    ) -> None:
        self.topic = topic
        self.result = Delivered()
        self._rate = rate
        self._producer, self.watch = open_producer(settings, verbose=verbose)

    def write(self, record: Record) -> None:
        """Queue a record; waits where the queue is full or the rate says so."""
        self._pace()
        fields: dict[str, Any] = {"value": record.value, "key": record.key, "on_delivery": self._delivered}
        if record.headers:
            fields["headers"] = record.headers
        if record.timestamp == 0:
            raise UsageError("the Kafka client cannot write the timestamp 0", remedy="use 1 or later")
        if record.timestamp is not None:
            fields["timestamp"] = record.timestamp
        if record.partition >= 0:
            fields["partition"] = record.partition
        while True:
            try:
                self._producer.produce(self.topic, **fields)
                break
            except BufferError:
                self._producer.poll(0.1)
                self.watch.check_login()
            except Exception as error:  # translated: the client's exception type is imported lazily
                raise self.watch.error(error, Subject("topic", self.topic)) from error
        self.result.sent += 1
        if self.result.sent % 256 == 0 or self._rate:
            self._producer.poll(0)
            self.watch.check_login()

    def write_all(self, records: Iterable[Record]) -> Delivered:
        """Write every record and wait until all are settled."""
        for record in records:
            self.write(record)
        return self.finish()

    def finish(self) -> Delivered:
        """Wait until every record is acknowledged or given up."""
        while self._producer.flush(0.2) > 0:
            self.watch.check_login()
        return self.result

    def _pace(self) -> None:
        if not self._rate:
            return
        due = self.result.started + self.result.sent / self._rate
        while (wait := due - time.monotonic()) > 0:
            self._producer.poll(min(wait, 0.1))

    def _delivered(self, error: Any, _message: Any) -> None:
        if error is None:
            self.result.acknowledged += 1
        else:
            self.result.errors[str(error.name())] += 1
            self.result.first_error = self.result.first_error or error
