"""From source frames to output rows: all levels of a plan as one chain of DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructType

from tidemill.engine import serdes as native
from tidemill.engine.columns import HEADERS
from tidemill.engine.lowering import Lowering, Types, lower
from tidemill.engine.operators.join import direct_answer_types
from tidemill.engine.steps import PhysicalPlan, Role, Step, physical_plan
from tidemill.engine.types import data_type, java_type, pair_type
from tidemill.serde.base import Serde
from tidemill.topology import Topology
from tidemill.topology.nodes import ForeignKeyJoin, Kind, Sink, TopicSource

SOURCE_COLUMNS = "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, headers " + HEADERS


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A topology compiled for Spark: rows of (topic, key, value, headers, timestamp) in `output`."""

    output: DataFrame
    plan: PhysicalPlan
    types: Mapping[str, Types]
    dropped: Any


def build_pipeline(
    spark: SparkSession,
    topology: Topology,
    sources: Mapping[str, DataFrame],
    *,
    tasks: int,
    caching: bool = True,
) -> Pipeline:
    """Compile a topology over frames of Kafka records (`SOURCE_COLUMNS`), one per source node.

    `tasks` is how many tasks records are spread over where they are not kept by topic partition.
    """
    spark._jvm.io.tidemill.spark.Numbers.register(spark._jsparkSession)  # type: ignore[union-attr]
    plan = physical_plan(topology)
    low = Lowering(spark, topology, plan, caching)
    dropped = spark._jvm.io.tidemill.task.Dropped(spark._jsc.sc())  # type: ignore[union-attr]
    levels = _Levels(low, sources, tasks, dropped)
    for level in range(plan.depth):
        levels.run(level)
    return Pipeline(levels.output(), plan, low.types, dropped)


@dataclass(frozen=True, slots=True)
class _Port:
    """An output of a level: which step's records leave there, where they go, and their types."""

    name: str
    step: str
    types: Types
    level: int | None
    """The level that takes the records in, None for a sink."""
    target: str = ""
    slot: int = 0


class _Levels:
    """Builds one level after the other; what leaves a level waits until its own level comes, or is output."""

    def __init__(self, low: Lowering, sources: Mapping[str, DataFrame], tasks: int, dropped: Any) -> None:
        self._low = low
        self._sources = sources
        self._tasks = tasks
        self._dropped = dropped
        self._waiting: list[_Port] = []
        self._frame: DataFrame | None = None
        self._nodes = self._lowered()

    def run(self, level: int) -> None:
        """Add the operator of one level behind what there is."""
        low, spark = self._low, self._low.spark
        steps = low.plan.on_level(level)
        arriving = [port for port in self._waiting if port.level == level]
        passing = [port for port in self._waiting if port.level != level]
        program = spark._jvm.io.tidemill.task.Program(self._dropped)  # type: ignore[union-attr]
        low.index = {step.name: program.add(self._nodes[level, step.name]) for step in steps}
        leaving = [*(self._port(step) for step in steps if isinstance(step.node, Sink)), *self._shuffles(steps)]
        outputs = [*passing, *leaving]
        self._connect(program, steps)
        for position, port in enumerate(outputs):
            node = low.nodes.Output(port.name, position, len(outputs), port.level is not None)
            output = program.add(node)
            if port in passing:
                entry = program.add(low.nodes.Pass(f"{port.name}/pass"))
                program.connect(entry, output, 0)
                low.index[f"pass:{port.name}"] = entry
            else:
                program.connect(low.index[port.step], output, 0)
        readers = [step for step in steps if isinstance(step.node, TopicSource)]
        frame = self._input(readers, arriving, passing)
        for step in readers:
            program.enter(low.index[step.name])
        for port in arriving:
            entry = program.add(low.nodes.Pass(f"{port.name}/in"))
            program.connect(entry, low.index[port.target], port.slot)
            program.enter(entry)
        for port in passing:
            program.enter(low.index[f"pass:{port.name}"])
        schema = _output_schema(outputs)
        java = spark._jvm.io.tidemill.task.TaskProcessor.apply(  # type: ignore[union-attr]
            frame._jdf, program, java_type(spark, schema)
        )
        self._frame = DataFrame(java, spark)
        self._waiting = outputs

    def output(self) -> DataFrame:
        """Rows ready for a sink."""
        assert self._frame is not None
        topic, key, value = F.lit(None).cast("string"), F.lit(None).cast("binary"), F.lit(None).cast("binary")
        for position, port in reversed(list(enumerate(self._waiting))):
            node = self._low.topology[port.step]
            assert isinstance(node, Sink)
            here = F.col("port") == position
            own = F.col(f"p{position}")
            name = F.lit(node.topic) if node.chooser is None else node.chooser(own["key"], own["value"])
            topic = F.when(here, name).otherwise(topic)
            key = F.when(here, native.encode(_serde(node.key, port.types.key), own["key"])).otherwise(key)
            value = F.when(here, native.encode(_serde(node.value, port.types.value), own["value"])).otherwise(value)
        return self._frame.select(
            topic.alias("topic"),
            key.alias("key"),
            value.alias("value"),
            F.col("headers"),
            F.timestamp_millis(F.col("time")).alias("timestamp"),
            F.col("task"),
            F.col("sequence"),
        )

    def _lowered(self) -> dict[tuple[int, str], Any]:
        """Kernel nodes by level and step, made in the order of the plan: a later level's types may be needed early."""
        low = self._low
        on_level = [low.plan.on_level(level) for level in range(low.plan.depth)]
        nodes = {}
        for step in low.plan.steps.values():
            for level, steps in enumerate(on_level):
                if step in steps:
                    low.index = {each.name: position for position, each in enumerate(steps)}
                    nodes[level, step.name] = lower(low, step)
        return nodes

    def _port(self, step: Step) -> _Port:
        return _Port(step.name, step.name, self._low.types[step.name], None)

    def _shuffles(self, steps: list[Step]) -> list[_Port]:
        here = {step.name for step in steps}
        ports = []
        for step in self._low.plan.steps.values():
            for slot, edge in enumerate(step.inputs):
                if edge.shuffled and edge.parent in here:
                    types = self._low.types[edge.parent]
                    if isinstance(step.node, ForeignKeyJoin) and step.role is Role.WHOLE and slot == 1:
                        types = direct_answer_types(self._low, step.node)
                    level = self._low.plan.levels[step.name]
                    ports.append(_Port(f"{edge.parent}>{step.name}.{slot}", edge.parent, types, level, step.name, slot))
        # A subscribing step sends requests by its first output and answers by its second.
        return sorted(ports, key=lambda port: (port.step, self._low.plan.steps[port.target].role is Role.WHOLE))

    def _connect(self, program: Any, steps: list[Step]) -> None:
        index = self._low.index
        for step in steps:
            for slot, edge in enumerate(step.inputs):
                is_lookup = slot == 1 and self._low.plan.steps[edge.parent].node.kind in (Kind.TABLE, Kind.GLOBAL_TABLE) and not _listens(step)
                if not edge.shuffled and edge.parent in index and not is_lookup:
                    program.connect(index[edge.parent], index[step.name], slot)

    def _input(self, readers: list[Step], arriving: list[_Port], passing: list[_Port]) -> DataFrame:
        types = [self._low.types[step.name] for step in readers] + [port.types for port in (*arriving, *passing)]
        frames = [self._read(step, port, types) for port, step in enumerate(readers)]
        taken = [*arriving, *passing]
        if taken:
            frames.append(self._take(taken, len(readers), types))
        return reduce(DataFrame.unionAll, frames)

    def _read(self, step: Step, port: int, types: list[Types]) -> DataFrame:
        node = step.node
        assert isinstance(node, TopicSource)
        assert node.key is not None
        assert node.value is not None
        key, value = native.decode(node.key, F.col("key")), native.decode(node.value, F.col("value"))
        raw = self._sources[step.name]
        if node.kind is Kind.GLOBAL_TABLE:
            task = F.explode(F.array(*(F.lit(number) for number in range(self._tasks))))
        elif step.name in self._low.plan.keyed:
            task = _task_of(key, self._tasks)
        else:
            task = F.col("partition") % self._tasks
        queue = F.lit(port * _QUEUES_PER_PORT).cast("long") + F.col("partition")
        time = F.unix_millis(F.col("timestamp"))
        head = [
            task.cast("int").alias("task"),
            F.lit(port).alias("port"),
            queue.alias("queue"),
            F.col("offset").alias("sequence"),
            time.alias("time"),
            F.col("headers"),
            F.col("topic"),
            F.col("partition"),
            F.col("offset"),
        ]
        return raw.select(*head, *_structs(types, {port: F.struct(key.alias("key"), value.alias("value"))}))

    def _take(self, ports: list[_Port], first: int, types: list[Types]) -> DataFrame:
        assert self._frame is not None
        before = {port.name: position for position, port in enumerate(self._waiting)}
        renumbered = F.lit(None).cast("int")
        task = F.col("task")
        structs = {}
        for offset, port in enumerate(ports):
            old, new = before[port.name], first + offset
            renumbered = F.when(F.col("port") == old, F.lit(new)).otherwise(renumbered)
            structs[new] = F.col(f"p{old}")
            if port.level is not None:
                by_key = _task_of(F.col(f"p{old}")["key"], self._tasks)
                task = F.when(F.col("port") == old, by_key).otherwise(task)
        none = F.lit(None)
        head = [
            task.cast("int").alias("task"),
            renumbered.alias("port"),
            # Everything one task sent keeps its order, whatever port it takes.
            (F.lit(-1) - F.col("task")).cast("long").alias("queue"),
            F.col("sequence"),
            F.col("time"),
            F.col("headers"),
            none.cast("string").alias("topic"),
            none.cast("int").alias("partition"),
            none.cast("bigint").alias("offset"),
        ]
        return self._frame.select(*head, *_structs(types, structs))


_QUEUES_PER_PORT = 1_000_000


def _listens(step: Step) -> bool:
    """Whether a step reacts to changes of the table on its right, and does not only look rows up."""
    from tidemill.topology.nodes import StreamGlobalJoin, StreamTableJoin

    return not isinstance(step.node, StreamTableJoin | StreamGlobalJoin)


def _task_of(key: Column, tasks: int) -> Column:
    return F.pmod(F.hash(key), F.lit(tasks))


def _structs(types: list[Types], present: Mapping[int, Column]) -> list[Column]:
    return [
        present.get(port, F.lit(None)).cast(pair_type(own.key, own.value)).alias(f"p{port}")
        for port, own in enumerate(types)
    ]


def _output_schema(ports: list[_Port]) -> StructType:
    schema = (
        StructType()
        .add("port", IntegerType())
        .add("task", IntegerType())
        .add("sequence", LongType())
        .add("time", LongType())
        .add("headers", data_type(HEADERS))
    )
    for position, port in enumerate(ports):
        schema = schema.add(f"p{position}", pair_type(port.types.key, port.types.value))
    return schema


def _serde(given: Serde | None, type_: Any) -> Serde:
    return given or native.default_serde(type_)
