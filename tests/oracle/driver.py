"""Runs a scenario on the real Kafka Streams, through its own TopologyTestDriver."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import jpype

from oracle import spec
from oracle.build import Build
from oracle.callbacks import Errors
from oracle.codec import codec, key_from_sink
from oracle.jvm import java_class, millis, streams
from oracle.shape import is_windowed, sources, value_type

_IN_MEMORY = "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers"
_SHARED_MEMORY = Path("/dev/shm")


def run_oracle(scenario: spec.Scenario) -> spec.Answer:
    """What Kafka Streams says: the output of every step, until it fails."""
    errors = Errors()
    # The driver writes a checkpoint per record, which would wear a disk out.
    folder = tempfile.mkdtemp(prefix="oracle-", dir=_SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None)
    steps: list[tuple[spec.Record, ...]] = []
    run: _Run | None = None
    dropped = 0
    failure = None
    try:
        run = _Run(scenario, folder, errors)
        for action in scenario.steps:
            steps.append(run.step(action))
        dropped = run.dropped()
    except jpype.JException as error:
        if errors.raised:
            raise errors.raised[0] from error
        failure = spec.Failure(
            None if run is None else len(steps), str(type(error).__name__).rpartition(".")[2]
        )
    finally:
        if run is not None:
            run.close()
        shutil.rmtree(folder, ignore_errors=True)
    return spec.Answer(tuple(steps), dropped, failure)


class _Run:
    """One driver and its topics."""

    def __init__(self, scenario: spec.Scenario, folder: str, errors: Errors) -> None:
        self._scenario = scenario
        builder = streams("StreamsBuilder")()
        build = Build(builder, errors, scenario.config.retention)
        for sink in scenario.sinks:
            build.sink(sink)
        properties = _properties(scenario.config, folder)
        topology = builder.build(properties)
        start = java_class("java.time.Instant").ofEpochMilli(0)
        self._driver = streams("TopologyTestDriver")(topology, properties, start)
        key = codec(spec.STRING).serde
        self._types = {topic: kind for sink in scenario.sinks for topic, kind in sources(sink.node).items()}
        self._inputs = {
            topic: self._driver.createInputTopic(topic, key.serializer(), codec(kind).serde.serializer())
            for topic, kind in self._types.items()
        }
        self._outputs = {
            sink: self._driver.createOutputTopic(
                sink.topic, key.deserializer(), codec(value_type(sink.node)).serde.deserializer()
            )
            for sink in scenario.sinks
        }

    def step(self, action: spec.Input | spec.Advance) -> tuple[spec.Record, ...]:
        if isinstance(action, spec.Advance):
            self._driver.advanceWallClockTime(millis(action.millis))
        else:
            self._pipe(action)
        return tuple(record for sink, topic in self._outputs.items() for record in self._read(sink, topic))

    def dropped(self) -> int:
        return round(
            sum(
                float(metric.metricValue())
                for name, metric in self._driver.metrics().items()
                if str(name.name()) == "dropped-records-total" and str(name.group()) == "stream-task-metrics"
            )
        )

    def close(self) -> None:
        self._driver.close()

    def _pipe(self, record: spec.Input) -> None:
        headers = java_class("org.apache.kafka.common.header.internals.RecordHeaders")()
        for name, value in record.headers:
            headers.add(name, value.encode())
        self._inputs[record.topic].pipeInput(
            streams("test.TestRecord")(
                codec(spec.STRING).to_java(record.key),
                codec(self._types[record.topic]).to_java(record.value),
                headers,
                jpype.JObject(record.ts, java_class("java.lang.Long")),
            )
        )

    def _read(self, sink: spec.Sink, topic: Any) -> list[spec.Record]:
        values = codec(value_type(sink.node))
        windowed = is_windowed(sink.node)
        return [
            spec.Record(
                sink.topic,
                key_from_sink(record.key(), windowed),
                values.to_python(record.value()),
                int(record.timestamp()),
                _headers(record) if self._scenario.compare_headers else (),
            )
            for record in topic.readRecordsToList()
        ]


def _headers(record: Any) -> tuple[tuple[str, str | None], ...]:
    return tuple(
        (str(header.key()), None if header.value() is None else bytes(header.value()).decode())
        for header in record.headers()
    )


def _properties(config: spec.Config, folder: str) -> Any:
    settings = {
        "application.id": "oracle",
        "bootstrap.servers": "nowhere:1",
        "state.dir": folder,
        # The driver's wall clock stands still: with the default of one second, unmatched join records and
        # results on window close would never come out.
        "__emit.interval.ms.kstreams.outer.join.spurious.results.fix__": str(config.throttle),
        "__emit.interval.ms.kstreams.windowed.aggregation__": str(config.throttle),
        "topology.optimization": "all" if config.optimize else "none",
    }
    if not config.cache:
        settings["statestore.cache.max.bytes"] = "0"
    if config.in_memory:
        settings["dsl.store.suppliers.class"] = _IN_MEMORY
    properties = java_class("java.util.Properties")()
    for name, value in settings.items():
        properties.put(name, value)
    return properties


def oracle_changelog(scenario: spec.Scenario, store: str) -> list[tuple[bytes, bytes | None, int]]:
    """What Kafka Streams writes to the changelog topic of a store: keys, values and timestamps."""
    folder = tempfile.mkdtemp(prefix="oracle-", dir=_SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None)
    run = _Run(scenario, folder, Errors())
    try:
        for action in scenario.steps:
            run.step(action)
        raw = java_class("org.apache.kafka.common.serialization.ByteArrayDeserializer")()
        topic = run._driver.createOutputTopic(f"oracle-{store}-changelog", raw, raw)
        return [
            (
                bytes(record.key()),
                None if record.value() is None else bytes(record.value()),
                int(record.timestamp()),
            )
            for record in topic.readRecordsToList()
        ]
    finally:
        run.close()
        shutil.rmtree(folder, ignore_errors=True)
