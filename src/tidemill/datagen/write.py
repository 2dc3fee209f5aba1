"""Where made-up records go: topics, at the pace they are due, or a file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import IO

from tidemill.datagen.generate import Made
from tidemill.errors import TidemillError
from tidemill.kafka.admin import Admin
from tidemill.kafka.records import Format, to_json
from tidemill.kafka.settings import Settings
from tidemill.kafka.writer import Writer

Stop = Callable[[float], bool]
"""Waits so many seconds; true when it is time to end."""


def ensure_topics(settings: Settings, topics: Iterable[str], *, partitions: int) -> list[str]:
    """Create the topics that are missing; returns their names."""
    admin = Admin(settings)
    missing = [topic for topic in topics if not admin.exists(topic)]
    for topic in missing:
        try:
            admin.create(topic, partitions=partitions)
        except TidemillError:  # somebody else may have been quicker
            if not admin.exists(topic):
                raise
    return missing


class TopicWriter:
    """Writes each record to its topic; with `paced` when it is due, else at once."""

    def __init__(self, settings: Settings, *, paced: bool, stop: Stop) -> None:
        self._settings = settings
        self._paced = paced
        self._stop = stop
        self._writers: dict[str, Writer] = {}
        self._began = time.monotonic()

    def write(self, made: Made) -> bool:
        """Write one; false if it was time to end."""
        wait = self._began + made.due / 1000 - time.monotonic() if self._paced else 0.0
        if self._stop(max(0.0, wait)):
            return False
        topic = made.record.topic
        if topic not in self._writers:
            self._writers[topic] = Writer(self._settings, topic)
        self._writers[topic].write(made.record)
        return True

    def finish(self) -> tuple[int, int]:
        """(acknowledged, failed) once every record is settled."""
        results = [writer.finish() for writer in self._writers.values()]
        return sum(result.acknowledged for result in results), sum(result.failed for result in results)

    def error(self) -> TidemillError | None:
        """The first failure, in our words."""
        for writer in self._writers.values():
            if writer.result.first_error is not None:
                return writer.watch.error(writer.result.first_error)
        return None


class FileWriter:
    """Writes JSON lines that `tidemill produce --json` reads."""

    def __init__(self, file: IO[str], formats: dict[str, Format], stop: Stop) -> None:
        self._file = file
        self._formats = formats
        self._stop = stop
        self._count = 0

    def write(self, made: Made) -> bool:
        """Write one; false if it was time to end."""
        if self._stop(0.0):
            return False
        record = made.record
        data = to_json(record, value_form=self._formats.get(record.topic, Format.string))
        for name in ("partition", "offset", "headers"):
            data.pop(name)
        self._file.write(json.dumps(data, ensure_ascii=False) + "\n")
        self._count += 1
        return True

    def finish(self) -> tuple[int, int]:
        """(written, failed)."""
        with suppress(ValueError):  # a closed pipe
            self._file.flush()
        return self._count, 0
