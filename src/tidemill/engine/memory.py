"""A topology run from memory to memory, one record at a time: the engine of the test driver."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidemill.engine.failures import QueryError, query_failure
from tidemill.engine.handlers import Outcome, handlers_of
from tidemill.engine.letters import KIND
from tidemill.engine.pipeline import build_pipeline
from tidemill.engine.python.operator import ANSWER
from tidemill.engine.python.program import Settings
from tidemill.engine.session import LOCAL_CHECKPOINT, spark_session
from tidemill.errors import TidemillError, UsageError
from tidemill.topology import Topology

Headers = Sequence[tuple[str, bytes | None]]

Result = tuple[str, bytes | None, bytes | None, int, Headers]
_SOURCE = "io.tidemill.memory.MemorySource"
_BATCH = "10 minutes"
"""How long one real-time batch lasts; a test is over before."""
_PATIENCE_MS = 200


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
            topology,
            frames,
            tasks=1,
            caching=caching,
            settings=settings,
            handlers=self._handlers,
        )
        self._problem = pipeline.output.columns.index("problem")
        self._dropped = pipeline.dropped
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

    def process(
        self,
        topic: str,
        offset: int,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Headers,
    ) -> Iterator[Result]:
        """Take one record through the topology; yields (topic, key, value, timestamp, headers) of results."""
        if topic not in self._topics:
            raise UsageError(
                f"the topology does not read `{topic}`", remedy=f"it reads {', '.join(sorted(self._topics))}"
            )
        names, values = [name for name, _ in headers], [data for _, data in headers]
        self._log.append(topic, offset, key, value, timestamp, names, values)
        yield from self._results()

    def tick(self, millis: int) -> Iterator[Result]:
        """Let the wall clock of processors be at this time; yields what their punctuators send."""
        if self._in_batches:
            self._log.tick(millis)
            yield from self._results()

    def _results(self) -> Iterator[Result]:
        for fields in self._batch() if self._in_batches else self._until_barrier():
            name, key, value, headers, time = fields[:5]
            if fields[self._problem]:
                told = _headers(headers)
                self.handled.append(told)
                kind = dict(told)[KIND]
                assert kind is not None
                if self._handlers.outcome(kind.decode()) is not Outcome.DEAD_LETTER:
                    continue
            yield name, _bytes(key), _bytes(value), time.getTime(), _headers(headers)

    def _batch(self) -> list[Any]:
        try:
            self._query.processAllAvailable()
        except Exception as error:  # noqa: BLE001  whatever the query failed with
            raise query_failure(error) from None
        rows = [list(fields) for fields in self._queue.drain(self._id)]
        self._told = [_headers(fields[3]) for fields in rows if fields[0] is None]
        return [fields for fields in rows if fields[0] is not None]

    def entries(self, store: str) -> list[dict[str, bytes | None]]:
        """All entries of a store: keys and values as they are kept, and times where a table has them."""
        self._log.ask(store)
        if self._in_batches:
            self._batch()
        else:
            self._until_barrier()
            self._told = [_headers(list(self._queue.lastBarrier(self._id))[3])]
        answer = next((list(each) for each in self._told if each and each[0] == (ANSWER, store.encode())), [])
        found: list[dict[str, bytes | None]] = []
        for name, data in answer[1:]:
            if name == "key":
                found.append({})
            found[-1][name] = data
        return found

    def _until_barrier(self) -> list[Any]:
        while (rows := self._queue.untilBarrier(self._id, _PATIENCE_MS)) is None:
            if self._query.exception().isDefined():
                raise _told(self._query.exception().get())
        return [list(fields) for fields in rows]

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


def _bytes(data: Any) -> bytes | None:
    return None if data is None else bytes(data)


def _headers(rows: Any) -> Headers:
    if rows is None:
        return ()
    return tuple((row.getString(0), _bytes(row.get(1))) for row in _items(rows))


def _items(rows: Any) -> Iterator[Any]:
    for position in range(rows.size()):
        yield rows.apply(position)


def _told(java: Any) -> TidemillError:
    told = query_failure(java)
    return EngineError(_cause(java)) if type(told) is QueryError else told


def _cause(java: Any) -> str:
    while java.getCause() is not None:
        java = java.getCause()
    return str(java.getMessage())
