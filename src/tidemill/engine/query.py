"""The running query of an app: started from a topology, watched, held between two batches, stopped."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from tidemill.engine.copartitioning import CoPartitioning
from tidemill.engine.failures import exception_of, query_failure
from tidemill.engine.kafka import KafkaIn, KafkaOut, read_sources, write_records
from tidemill.engine.pipeline import Pipeline, build_pipeline
from tidemill.engine.python.program import Settings
from tidemill.engine.realtime import refuse_in_real_time
from tidemill.engine.session import COUNTED_BY_SPARK, LOCAL_CHECKPOINT, is_local_path
from tidemill.engine.tiers import uses_python
from tidemill.errors import TidemillError
from tidemill.topology import Topology

_PAUSE = 0.01
_SLOW_ENOUGH_MS = 50
_DROPPED = ("null_key", "null_value", "late")


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a batch begins: every so often, as a record comes (`realtime`), or until nothing is left."""

    interval_ms: int = 100
    realtime_ms: int | None = None
    bounded: bool = False

    def options(self) -> dict[str, Any]:
        """The arguments of Spark's `trigger()`."""
        if self.bounded:
            return {"availableNow": True}
        if self.realtime_ms is not None:
            return {"realTime": f"{self.realtime_ms} milliseconds"}
        return {"processingTime": f"{self.interval_ms} milliseconds"}


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """Everything a query is started with."""

    name: str
    topology: Topology
    checkpoint: str
    tasks: int
    caching: bool
    reading: KafkaIn
    writing: KafkaOut
    trigger: Trigger
    grown: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Topics that got more partitions: how many they had at first, and each number since."""
    meeting_in: Mapping[str, int] = field(default_factory=dict)
    """How many partitions topics had at first that meet others."""
    co_partitioning: CoPartitioning = CoPartitioning.SHUFFLE
    lone_partitions: bool = False
    """Whether no task reads more than one partition."""


def start_query(session: SparkSession, plan: QueryPlan) -> RunningQuery:
    """Compile and start; errors of Spark and Kafka come as Tidemill's."""
    # A session of its own: the settings of one app must not reach another.
    spark = session.newSession()
    if is_local_path(plan.checkpoint):
        for name, value in LOCAL_CHECKPOINT.items():
            if name.startswith("spark.sql."):
                spark.conf.set(name, value)
    spark.conf.set("spark.sql.shuffle.partitions", str(plan.tasks))
    # The kernel counts the rows of its stores by itself; Spark would look up each one that is written.
    spark.conf.set(COUNTED_BY_SPARK, str(uses_python(plan.topology)).lower())
    if plan.trigger.interval_ms >= _SLOW_ENOUGH_MS:
        # The trigger itself spaces out the questions to Kafka; a pause on top would make every trigger late.
        spark.conf.set("spark.sql.streaming.pollingDelay", "1ms")
    try:
        with _active(spark):
            frames = read_sources(spark, plan.topology.sources, plan.reading)
            pipeline = build_pipeline(
                spark,
                plan.topology,
                frames,
                tasks=plan.tasks,
                caching=plan.caching,
                settings=Settings(plan.name),
                from_kafka=True,
                micro_batches=plan.trigger.realtime_ms is None,
                handlers=plan.writing.handlers,
                grown=plan.grown,
                partitions=plan.writing.partitions,
                meeting_in=plan.meeting_in,
                co_partitioning=plan.co_partitioning,
                lone_partitions=plan.lone_partitions,
            )
            if plan.trigger.realtime_ms is not None:
                refuse_in_real_time(spark, pipeline)
                # Our sink is not on Spark's list of what the mode has been tried with.
                spark.conf.set("spark.sql.streaming.realTimeMode.allowlistCheck", "false")
            gate = spark._jvm.io.tidemill.sink.Gate.of(plan.writing.gate)  # type: ignore[union-attr]
            gate.open()
            writer = write_records(pipeline.output, plan.writing)
            # Spark does that by itself for stateless queries in real-time mode, and then wants its own sinks.
            writer = writer.option("asyncProgressTrackingEnabled", "false")
            query = (
                writer.queryName(plan.name)
                .option("checkpointLocation", plan.checkpoint)
                .trigger(**plan.trigger.options())
                .start()
            )
    except TidemillError:
        raise
    except Exception as error:  # whatever Spark or the gateway raises is translated
        raise query_failure(error) from error
    return RunningQuery(spark, query._jsq, gate, plan, pipeline)


@contextmanager
def _active(spark: SparkSession) -> Iterator[None]:
    """Make columns here, whatever thread this is: Spark looks for the session of the thread."""
    sessions: Any = spark._jvm.org.apache.spark.sql.classic.SparkSession  # type: ignore[union-attr]
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


class RunningQuery:
    """A handle on a started query. Every method asks the JVM, so each may fail once that is gone."""

    def __init__(
        self, spark: SparkSession, query: Any, gate: Any, plan: QueryPlan, pipeline: Pipeline
    ) -> None:
        self._spark = spark
        self._query = query
        self._gate = gate
        self._plan = plan
        self._seen = -1
        self._handled: list[dict[str, Any]] | None = None
        self.pipeline = pipeline

    @property
    def id(self) -> str:
        """The id of the checkpoint."""
        return str(self._query.id().toString())

    @property
    def run(self) -> str:
        """What no other start of a query has in common with this one."""
        return self._plan.writing.gate

    @property
    def is_active(self) -> bool:
        """Whether the query still runs."""
        return bool(self._query.isActive())

    def failure(self) -> TidemillError | None:
        """Why it does not run any more, None if it was stopped."""
        error = exception_of(self._spark._jvm, self._query)
        return None if error is None else query_failure(error)

    def new_progress(self) -> list[dict[str, Any]]:
        """Reports of the batches finished since the last call, oldest first (Spark keeps a hundred)."""
        last = self._query.lastProgress()
        if last is None or last.batchId() == self._seen:
            return []
        found = [report for report in self._query.recentProgress() if report.batchId() > self._seen]
        # Not the one asked for first: another batch may have ended since.
        self._seen = max((report.batchId() for report in found), default=self._seen)
        return [json.loads(report.json()) for report in found]

    def dropped(self) -> dict[str, int]:
        """How many records were left out so far, by reason."""
        counts = self.pipeline.dropped
        return {reason: int(counts.count(reason)) if counts is not None else 0 for reason in _DROPPED}

    def executed_plan(self) -> str:
        """What Spark ran for the last batch, as it prints it; empty before the first."""
        execution = self._query.streamingQuery().lastExecution()
        return str(execution.executedPlan().toString()) if execution is not None else ""

    def handled(self) -> list[dict[str, Any]]:
        """Records left out or set aside since the start, counted by kind, outcome, node and error."""
        if self._handled is not None:
            return self._handled
        jvm: Any = self._spark._jvm
        found: list[dict[str, Any]] = json.loads(jvm.io.tidemill.sink.Handled.of(self._plan.writing.gate))
        return found

    def hold(self, timeout: float) -> bool:
        """Let the batch in work finish and no other begin; False if it takes longer."""
        self._gate.close()
        deadline = time.monotonic() + timeout
        while self.is_active and not self._gate.isHolding() and self._query.status().isTriggerActive():
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE)
        return True

    def release(self) -> None:
        """Let batches begin again."""
        self._gate.open()

    def stop(self, timeout: float) -> bool:
        """Finish the batch in work if the time allows, then end; True if no batch was interrupted."""
        finished = self.hold(timeout) if self.is_active else True
        self._query.stop()
        jvm: Any = self._spark._jvm
        jvm.io.tidemill.sink.Gate.forget(self._plan.writing.gate)
        self._handled = self.handled()
        jvm.io.tidemill.sink.Handled.forget(self._plan.writing.gate)
        jvm.io.tidemill.sink.Producers.close(self.id)
        return finished

    def wait(self, timeout: float) -> bool:
        """Wait until the query has ended by itself; False if it has not."""
        deadline = time.monotonic() + timeout
        while self.is_active:
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE)
        return True
