"""A topology run from memory to memory, one record at a time: the engine of the test driver."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidemill.engine.failures import QueryError, exception_of, query_failure
from tidemill.engine.handlers import Outcome, handlers_of
from tidemill.engine.letters import KIND
from tidemill.engine.packed import unpacked
from tidemill.engine.pipeline import build_pipeline
from tidemill.engine.python.operator import ANSWER
from tidemill.engine.python.program import Settings
from tidemill.engine.session import LOCAL_CHECKPOINT, spark_session
from tidemill.errors import TidemillError, UsageError
from tidemill.topology import Topology
from tidemill.topology.changelogs import with_changelogs

Headers = Sequence[tuple[str, bytes | None]]

Result = tuple[str, bytes | None, bytes | None, int, Headers]
"""A record that came out: topic, key, value, timestamp, headers."""
_SOURCE = "io.tidemill.memory.MemorySource"
_BATCH = "10 minutes"
"""How long one real-time batch lasts; a test is over before."""
_PATIENCE_MS = 200
_DROPPED = "tidemill.dropped"
"""By this name a barrier asks tasks how many records they dropped; accumulators come at a batch's end."""


@dataclass(frozen=True, slots=True)
class Piped:
    """A record that goes in."""

    topic: str
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: Headers = ()


class MemoryRun:
    """One query from memory to memory, in Spark's real-time mode; `process` takes a record through it.

    A barrier follows every record through all operators, so its results are complete when the barrier leaves.
    """

    def __init__(
        self,
        topology: Topology,
        folder: Path,
        *,
        caching: bool = True,
        config: Mapping[str, str] | None = None,
        spark: SparkSession | None = None,
    ) -> None:
        self._spark = spark or driver_session(folder)
        for name, value in LOCAL_CHECKPOINT.items():
            if name.startswith("spark.sql."):
                self._spark.conf.set(name, value)
        self._spark.conf.set("spark.sql.shuffle.partitions", "1")
        self._spark.conf.set("spark.sql.streaming.pollingDelay", "1ms")
        self._id = uuid.uuid4().hex
        self._topics = set(topology.source_topics)
        source = self._spark.readStream.format(_SOURCE).option("id", self._id).load()
        frames = dict.fromkeys((node.name for node in topology.sources), source)
        told = config or {}
        settings = Settings(told.get("application.id", "test"), told, mocked_clock=True)
        self._handlers = handlers_of(settings.application_id, told)
        self.handled: list[Headers] = []
        pipeline = build_pipeline(
            self._spark,
            with_changelogs(topology, settings.application_id),
            frames,
            tasks=1,
            caching=caching,
            settings=settings,
            handlers=self._handlers,
        )
        self._problem = pipeline.output.columns.index("problem")
        self._told: list[Headers] = []
        self._in_batches = bool(pipeline.plan.python) or _calls_python(pipeline.output)
        self.stores, self.tables = pipeline.stores, pipeline.tables
        java = self._jvm.io.tidemill.memory
        self._log, self._queue = java.MemoryLog.of(self._id), java.RowQueue
        writer = self._queue.into(self._id, pipeline.output._jdf)
        triggers = self._jvm.org.apache.spark.sql.streaming.Trigger
        # Spark runs Python operators in micro-batches only; then each record is a batch of its own.
        trigger = triggers.ProcessingTime("0 seconds") if self._in_batches else triggers.RealTime(_BATCH)
        writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(trigger)
        self._query = writer.start()

    @property
    def _jvm(self) -> Any:
        return self._spark._jvm

    def process(self, records: Iterable[Piped]) -> Iterator[list[Result]]:
        """Take records through the topology, one after the other; yields what comes of each.

        In real-time mode all of them are on their way at once: a barrier behind each keeps results apart.
        """
        if self._in_batches:
            for record in records:
                self._append(record)
                yield self._taken()
            return
        given = list(records)
        for record in given:
            self._append(record)
        for _ in given:
            yield self._taken()

    def tick(self, millis: int) -> list[Result]:
        """Let the wall clock of processors be at this time; what their punctuators send."""
        if not self._in_batches:
            return []
        self._log.tick(millis)
        return self._taken()

    def entries(self, store: str) -> list[dict[str, bytes | None]]:
        """All entries of a store: keys and values as they are kept, and times where a table has them."""
        self._log.ask(store)
        self._taken()
        answer = next((each for each in self._told if each and each[0] == (ANSWER, store.encode())), ())
        found: list[dict[str, bytes | None]] = []
        for name, data in answer[1:]:
            if name == "key":
                found.append({})
            found[-1][name] = data
        return found

    def dropped(self) -> dict[str, int]:
        """How many records the kernel left out so far, by reason."""
        self._log.ask(_DROPPED)
        self._taken()
        counts: dict[str, int] = {}
        for name, data in next(iter(self._told), ())[1:]:
            counts[name] = counts.get(name, 0) + int.from_bytes(data or b"", "big")
        return counts

    def _append(self, record: Piped) -> None:
        if record.topic not in self._topics:
            raise UsageError(
                f"the topology does not read `{record.topic}`",
                remedy=f"it reads {', '.join(sorted(self._topics))}",
            )
        names, values = [name for name, _ in record.headers], [data for _, data in record.headers]
        self._log.append(
            record.topic,
            record.offset,
            record.key,
            record.value,
            record.timestamp,
            names or None,
            values or None,
        )

    def _taken(self) -> list[Result]:
        """What came up to the next barrier, or in this batch; barriers' headers are noted."""
        self._told = []
        results: list[Result] = []
        for topic, key, value, time, headers, problem in unpacked(self._packed()):
            if topic is None:
                self._told.append(headers)
            elif not problem or self._is_letter(headers):
                results.append((topic, key, value, time, headers))
        return results

    def _is_letter(self, headers: Headers) -> bool:
        """Note a record that failed; whether it is to be set aside as a dead letter."""
        self.handled.append(headers)
        kind = dict(headers)[KIND]
        assert kind is not None
        return self._handlers.outcome(kind.decode()) is Outcome.DEAD_LETTER

    def _packed(self) -> bytes:
        if self._in_batches:
            try:
                self._query.processAllAvailable()
            except Exception as error:  # noqa: BLE001  whatever the query failed with
                raise query_failure(error) from None
            rows: bytes = self._queue.drainPacked(self._id, self._problem)
            return rows
        packed: bytes | None = None
        while packed is None:
            packed = self._queue.untilBarrier(self._id, self._problem, _PATIENCE_MS)
            if packed is None and (ended := exception_of(self._jvm, self._query)) is not None:
                raise _told(ended)
        return packed

    def stop(self) -> None:
        """Stop the query."""
        self._query.stop()
        self._queue.forget(self._id)
        self._jvm.io.tidemill.memory.MemoryLog.forget(self._id)


def _calls_python(frame: DataFrame) -> bool:
    """Whether a function of the user's own Python is in the plan: it answers at the end of a batch only."""
    jvm: Any = frame.sparkSession._jvm
    pattern = jvm.org.apache.spark.sql.catalyst.trees.TreePattern.PYTHON_UDF()
    return bool(frame._jdf.queryExecution().analyzed().containsPattern(pattern))


def driver_session(folder: Path) -> SparkSession:
    """A session for drivers: real-time mode needs a slot per operator at once, so more slots than cores."""
    return spark_session("local[8]", conf={"spark.sql.streaming.checkpointLocation": str(folder)})


class EngineError(TidemillError):
    """A record could not be processed."""

    code = "ENGINE"


def _told(java: Any) -> TidemillError:
    told = query_failure(java)
    return EngineError(_cause(java)) if type(told) is QueryError else told


def _cause(java: Any) -> str:
    while java.getCause() is not None:
        java = java.getCause()
    return str(java.getMessage())
