"""Run a topology in a test: pipe records in, read records out; the real engine, no Kafka."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemill.dsl import KeyValueStore, SessionStore, StreamsBuilder, VersionedKeyValueStore, WindowStore
from tidemill.serde.base import Serde
from tidemill.testing.stores import TestStores
from tidemill.testing.topics import Headers, TestInputTopic, TestOutputTopic, TestRecord
from tidemill.time import Duration, milliseconds
from tidemill.topology import Topology

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Record = tuple[str, bytes | None, bytes | None, int, Headers]


class TopologyTestDriver:
    """Runs a topology with records from the test itself.

    Every piped record is processed before `pipe_input` returns, as if each were a batch of its own.
    """

    def __init__(
        self,
        builder: StreamsBuilder | Topology,
        *,
        config: Mapping[str, str] | None = None,
        initial_wall_clock_time: int = 0,
        spark: SparkSession | None = None,
    ) -> None:
        from tidemill.engine.memory import MemoryRun

        topology = builder if isinstance(builder, Topology) else builder.build()
        self._folder = Path(tempfile.mkdtemp(prefix="tidemill-driver-"))
        caching = (config or {}).get("statestore.cache.max.bytes") != "0"
        try:
            self._run = MemoryRun(topology, self._folder, caching=caching, config=config, spark=spark)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self._stores = TestStores(self._run)
        self._outputs: dict[str, deque[TestRecord]] = {}
        self._produced: set[str] = set()
        self._clock = initial_wall_clock_time
        self._offsets: dict[str, itertools.count[int]] = {}
        self._collect(self._run.tick(self._clock))

    def create_input_topic(
        self, topic: str, *, key: Serde, value: Serde, start: int = 0, auto_advance: Duration = 0
    ) -> TestInputTopic:
        """A topic to pipe records into.

        Records that are piped without a timestamp get `start`, and then each one `auto_advance` more.
        """
        return TestInputTopic(self, topic, key, value, start=start, auto_advance=auto_advance)

    def create_output_topic(self, topic: str, *, key: Serde, value: Serde) -> TestOutputTopic:
        """A topic to read results from."""
        return TestOutputTopic(self, topic, key, value)

    def advance_wall_clock_time(self, duration: Duration) -> None:
        """Let time pass for what depends on the clock of the machine: wall-clock punctuators."""
        self._clock += milliseconds(duration, what="the time to advance by")
        self._collect(self._run.tick(self._clock))

    def produced_topic_names(self) -> set[str]:
        """All topics that something was written to so far."""
        return set(self._produced)

    def metrics(self) -> dict[str, int]:
        """How many records were left out so far: `dropped-records`, and of these each reason's."""
        counts = self._run.dropped()
        reasons = {f"dropped-records.{reason}": count for reason, count in sorted(counts.items())}
        return {"dropped-records": sum(counts.values()), **reasons}

    def get_key_value_store(self, name: str) -> KeyValueStore:
        """A key-value store, to read, as it is now."""
        return self._stores.key_value(name)

    def get_timestamped_key_value_store(self, name: str) -> KeyValueStore:
        """A key-value store, to read, as it is now; its values are `ValueAndTimestamp`s."""
        return self._stores.key_value(name, timestamped=True)

    def get_window_store(self, name: str) -> WindowStore:
        """A window store, to read, as it is now."""
        return self._stores.window(name)

    def get_timestamped_window_store(self, name: str) -> WindowStore:
        """A window store, to read, as it is now; its values are `ValueAndTimestamp`s."""
        return self._stores.window(name, timestamped=True)

    def get_session_store(self, name: str) -> SessionStore:
        """A session store, to read, as it is now."""
        return self._stores.session(name)

    def get_versioned_store(self, name: str) -> VersionedKeyValueStore:
        """A versioned store, to read, as it is now."""
        return self._stores.versioned(name)

    def get_all_state_stores(self) -> dict[str, Any]:
        """All stores by name, to read, as they are now."""
        return self._stores.all()

    def close(self) -> None:
        """Stop the run and remove its state."""
        self._run.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> TopologyTestDriver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _pipe(self, records: Iterable[_Record]) -> list[list[_Record]]:
        """Process records one after the other; what comes of each can be read, and is returned."""
        from tidemill.engine.memory import Piped

        piped = (
            Piped(topic, next(self._offsets.setdefault(topic, itertools.count())), key, value, time, headers)
            for topic, key, value, time, headers in records
        )
        came = []
        for results in self._run.process(piped):
            self._collect(results)
            came.append(results)
        return came

    def _collect(self, results: Iterable[_Record]) -> None:
        for name, key, value, time, headers in results:
            self._produced.add(name)
            self._outputs.setdefault(name, deque()).append(TestRecord(key, value, time, headers))
