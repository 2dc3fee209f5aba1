"""Run a topology in a test: pipe records in, read records out; the real engine, no Kafka."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemill.dsl import KeyValueStore, SessionStore, StreamsBuilder, VersionedKeyValueStore, WindowStore
from tidemill.errors import UsageError
from tidemill.serde.base import Serde
from tidemill.testing.stores import TestStores
from tidemill.time import Duration, milliseconds
from tidemill.topology import Topology

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Headers = Sequence[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class TestRecord:
    """One record: what was piped in, or what came out."""

    key: Any
    value: Any
    timestamp: int | None = None
    headers: Headers = ()


class TopologyTestDriver:
    """Runs a topology with records from the test itself.

    Every piped record is processed before `pipe_input` returns, as if each were a batch of its own.
    """

    def __init__(
        self,
        builder: StreamsBuilder | Topology,
        *,
        config: Mapping[str, str] | None = None,
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
        self._outputs: dict[str, list[TestRecord]] = {}
        self._clock = 0
        self._offsets: dict[str, itertools.count[int]] = {}
        self._collect(self._run.tick(self._clock))

    def create_input_topic(self, topic: str, *, key: Serde, value: Serde) -> TestInputTopic:
        """A topic to pipe records into."""
        return TestInputTopic(self, topic, key, value)

    def create_output_topic(self, topic: str, *, key: Serde, value: Serde) -> TestOutputTopic:
        """A topic to read results from."""
        return TestOutputTopic(self, topic, key, value)

    def advance_wall_clock_time(self, duration: Duration) -> None:
        """Let time pass for what depends on the clock of the machine: wall-clock punctuators."""
        self._clock += milliseconds(duration, what="the time to advance by")
        self._collect(self._run.tick(self._clock))

    def get_key_value_store(self, name: str) -> KeyValueStore:
        """A key-value store, to read, as it is now."""
        return self._stores.key_value(name)

    def get_window_store(self, name: str) -> WindowStore:
        """A window store, to read, as it is now."""
        return self._stores.window(name)

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

    def _pipe(
        self, topic: str, key: bytes | None, value: bytes | None, timestamp: int, headers: Headers
    ) -> None:
        offset = next(self._offsets.setdefault(topic, itertools.count()))
        self._collect(self._run.process(topic, offset, key, value, timestamp, headers))

    def _collect(self, results: Iterable[tuple[str, bytes | None, bytes | None, int, Headers]]) -> None:
        for name, key, value, time, headers in results:
            self._outputs.setdefault(name, []).append(TestRecord(key, value, time, headers))

    def _take(self, topic: str) -> list[TestRecord]:
        return self._outputs.pop(topic, [])


class TestInputTopic:
    """A topic of the driver that takes records."""

    __test__ = False

    def __init__(self, driver: TopologyTestDriver, topic: str, key: Serde, value: Serde) -> None:
        self._driver, self._topic, self._key, self._value = driver, topic, key, value

    def pipe_input(self, key: Any, value: Any, *, timestamp: int = 0, headers: Headers = ()) -> None:
        """Process one record; its results can be read when this returns."""
        if timestamp < 0:
            raise UsageError(
                f"the timestamp {timestamp} is negative", remedy="give milliseconds since the epoch"
            )
        self._driver._pipe(self._topic, self._key.encode(key), self._value.encode(value), timestamp, headers)

    def pipe_values(self, values: Iterable[Any], *, timestamp: int = 0) -> None:
        """Process records without keys, one by one."""
        for value in values:
            self.pipe_input(None, value, timestamp=timestamp)


class TestOutputTopic:
    """A topic of the driver that results are read from."""

    __test__ = False

    def __init__(self, driver: TopologyTestDriver, topic: str, key: Serde, value: Serde) -> None:
        self._driver, self._topic, self._key, self._value = driver, topic, key, value

    def read_records(self) -> list[TestRecord]:
        """All results since the last read."""
        return [
            TestRecord(self._key.decode(r.key), self._value.decode(r.value), r.timestamp, r.headers)
            for r in self._driver._take(self._topic)
        ]


TestRecord.__test__ = False  # type: ignore[attr-defined]
