"""What goes into the demo: made-up records, written by a thread of their own, and remembered."""

from __future__ import annotations

import threading
import time
from itertools import islice

from tidemill.datagen.generate import make
from tidemill.datagen.schema import Schema
from tidemill.datagen.write import TopicWriter
from tidemill.kafka.records import Record
from tidemill.kafka.settings import Settings

_TABLE_ROWS = 25
"""Rows every table has before the first record of a stream comes."""


class Feed:
    """Writes the records of schemas, at the pace they are due."""

    def __init__(self, settings: Settings, schemas: list[Schema], tables: set[str]) -> None:
        self.sent: list[Record] = []
        """Every record of a stream, in the order it was written."""
        self._settings = settings
        self._streams = [schema for schema in schemas if schema.topic not in tables]
        self._tables = [schema for schema in schemas if schema.topic in tables]
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="demo-feed", daemon=True)

    def fill_tables(self) -> None:
        """Write the first rows of the tables at once."""
        writer = TopicWriter(self._settings, paced=False, stop=self._end.wait)
        start = int(time.time() * 1000) - 60_000
        for schema in self._tables:
            for made in islice(make([schema], seed="demo", start=start), _TABLE_ROWS):
                writer.write(made)
        writer.finish()

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Write no more; what was written is in Kafka when this returns."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(10)

    def _run(self) -> None:
        writer = TopicWriter(self._settings, paced=True, stop=self._end.wait)
        now = time.time()
        # Tables go on changing, slowly; where there is nothing else, they are what there is to see.
        quiet = self._tables if not self._streams else []
        for made in make([*self._streams, *quiet], seed=str(now), start=int(now * 1000)):
            if not writer.write(made):
                break
            self.sent.append(made.record)
        writer.finish()
