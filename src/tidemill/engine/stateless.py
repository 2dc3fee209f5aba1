"""Topologies without state: pure Catalyst, no shuffle, no kernel; Python UDFs are welcome here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType

from tidemill.dsl import record
from tidemill.engine.columns import Columns, array_of, pair_of
from tidemill.engine.encoding import parts
from tidemill.engine.handlers import Handlers
from tidemill.engine.lowering import Types
from tidemill.engine.operators.sink import check_sink
from tidemill.engine.operators.source import reads, source_types
from tidemill.engine.operators.stateless import branch_condition, of_record, pairs_of, same_types
from tidemill.engine.placement import Partitions, placed, places, with_partitions
from tidemill.engine.reading import Reader, read
from tidemill.engine.times import with_times
from tidemill.topology import Topology
from tidemill.topology.nodes import (
    BranchFilter,
    Filter,
    FlatMap,
    FlatMapValues,
    GroupBy,
    Map,
    MapValues,
    Merge,
    Node,
    SelectKey,
    Sink,
    StreamSource,
)

_STATELESS = (
    StreamSource,
    Filter,
    BranchFilter,
    MapValues,
    FlatMapValues,
    Map,
    FlatMap,
    SelectKey,
    Merge,
    Sink,
)


_PROBLEMS = -1
"""The path of records that cannot be read."""


def is_stateless(topology: Topology) -> bool:
    """Whether a topology keeps nothing and shuffles nothing."""
    return all(isinstance(node, _STATELESS) for node in topology)


def stateless_output(
    columns: Columns,
    topology: Topology,
    sources: Mapping[str, DataFrame],
    handlers: Handlers,
    partitions: Partitions,
) -> tuple[DataFrame, dict[str, Types]]:
    """The records a stateless topology writes, and the types of its steps."""
    run = _Run(columns, topology, handlers, partitions)
    readers = [node for node in topology if isinstance(node, StreamSource)]
    parts = []
    for source in dict.fromkeys(id(sources[node.name]) for node in readers):
        mine = [node for node in readers if id(sources[node.name]) == source]
        parts.append(run.read(sources[mine[0].name], mine))
    return reduce(DataFrame.unionAll, parts), run.types


@dataclass(frozen=True, slots=True)
class _Flow:
    """Where a record is: its key and value so far. Rows of other paths have another number in `path`."""

    path: int
    key: Column
    value: Column
    types: Types


class _Run:
    """Follows all paths from one frame at once; a fork copies rows and numbers the copies."""

    def __init__(
        self, columns: Columns, topology: Topology, handlers: Handlers, partitions: Partitions
    ) -> None:
        self._partitions = partitions
        self.types: dict[str, Types] = {}
        self._columns = columns
        self._handlers = handlers
        self._topology = topology
        self._paths = 0
        self._done: list[tuple[_Flow, Sink]] = []

    def read(self, frame: DataFrame, nodes: list[StreamSource]) -> DataFrame:
        self._done = []
        readers = [Reader(node, self._new_path(), "__path") for node in nodes]
        chosen = [F.when(reads(each.node, F.col("topic")), F.lit(each.number)) for each in readers]
        rows = _copied(frame.select("*", F.lit(0).alias("__path")), F.array(*chosen), F.col("topic"))
        rows = read(rows, readers, self._handlers, _PROBLEMS)
        rows = with_times(self._columns, rows, readers)
        decoded = [column for reader in readers for column in (reader.key, reader.value)]
        rows = rows.select(
            F.col("key"),
            F.col("value"),
            F.col("timestamp").alias(record.TIMESTAMP),
            F.col("headers").alias(record.HEADERS),
            F.col("topic").alias(record.TOPIC),
            F.col("partition").alias(record.PARTITION),
            F.col("offset").alias(record.OFFSET),
            F.col("__path"),
            *decoded,
        )
        for reader in readers:
            flow = _Flow(reader.number, reader.key, reader.value, source_types(reader.node))
            self.types[reader.node.name] = flow.types
            rows = self._fork(rows, reader.node, flow)
        return self._written(rows)

    def _fork(self, rows: DataFrame, node: Node, flow: _Flow) -> DataFrame:
        children = self._topology.children(node.name)
        if len(children) == 1:
            return self._follow(rows, children[0], flow)
        flows = [replace(flow, path=self._new_path()) for _ in children]
        copies = F.array(*(F.lit(copy.path) for copy in flows))
        here = F.col("__path") == flow.path
        rows = _copied(rows, F.when(here, copies).otherwise(F.array(F.col("__path"))), F.col(record.TOPIC))
        for child, copy in zip(children, flows, strict=True):
            rows = self._follow(rows, child, copy)
        return rows

    def _follow(self, rows: DataFrame, node: Node, flow: _Flow) -> DataFrame:
        if isinstance(node, Sink):
            self._done.append((flow, node))
            self.types[node.name] = flow.types
            return rows
        rows, flow = self._step(rows, node, flow)
        self.types[node.name] = flow.types
        return self._fork(rows, node, flow)

    def _step(self, rows: DataFrame, node: Node, flow: _Flow) -> tuple[DataFrame, _Flow]:
        columns, key, value, types = self._columns, flow.key, flow.value, flow.types
        elsewhere = F.col("__path") != flow.path
        match node:
            case Filter():
                fn = of_record(node.predicate, node.with_key)
                columns.predicate_type(node, fn, types.key, types.value)
                holds = F.coalesce(self._located(node, fn(key, value)), F.lit(False))
                return rows.where(elsewhere | (~holds if node.negate else holds)), flow
            case BranchFilter():
                columns.predicate_type(node, branch_condition(node), types.key, types.value)
                return rows.where(elsewhere | self._located(node, branch_condition(node)(key, value))), flow
            case MapValues():
                fn = of_record(node.fn, node.with_key)
                type_ = columns.type_of_record(node, fn, types.key, types.value)
                made = self._located(node, fn(key, value))
                return rows, replace(flow, value=made, types=Types(types.key, type_))
            case SelectKey() | GroupBy():
                type_ = columns.type_of_record(node, node.fn, types.key, types.value)
                made = self._located(node, node.fn(key, value))
                return rows, replace(flow, key=made, types=Types(type_, types.value))
            case Map():
                pair = columns.struct_type_of_record(node, node.fn, types.key, types.value)
                first, second = pair_of(node, node.fn(key, value))
                return rows, replace(
                    flow,
                    key=self._located(node, first),
                    value=self._located(node, second),
                    types=Types(*(f.dataType for f in pair)),
                )
            case FlatMapValues() | FlatMap():
                return self._exploded(rows, node, flow)
            case Merge():
                same_types(node, self.types.get(node.name, types), types)
        return rows, flow

    def _exploded(
        self, rows: DataFrame, node: FlatMapValues | FlatMap, flow: _Flow
    ) -> tuple[DataFrame, _Flow]:
        fn = of_record(node.fn, True if isinstance(node, FlatMap) else node.with_key)
        type_ = self._columns.array_type_of_record(node, fn, flow.types.key, flow.types.value)
        assert isinstance(type_, ArrayType)
        name = f"__element{flow.path}"
        while name in rows.columns:
            name += "_"
        nothing = F.array(F.lit(None).cast(type_.elementType))
        here = F.col("__path") == flow.path
        made = self._located(node, array_of(fn(flow.key, flow.value)).cast(type_))
        array = F.when(here, made).otherwise(nothing)
        rows = rows.select("*", F.explode(array).alias(name))
        element = F.col(name)
        if isinstance(node, FlatMapValues):
            return rows, replace(flow, value=element, types=Types(flow.types.key, type_.elementType))
        pair = pairs_of(node, type_.elementType)
        types = Types(pair[0].dataType, pair[1].dataType)
        return rows, replace(flow, key=element[pair[0].name], value=element[pair[1].name], types=types)

    def _written(self, rows: DataFrame) -> DataFrame:
        topic, key, value = (F.lit(None).cast(kind) for kind in ("string", "binary", "binary"))
        problem = F.col("__path") == _PROBLEMS if self._handlers.are_needed else F.lit(False)
        if self._handlers.are_needed:
            topic = F.when(problem, F.lit(self._handlers.topic)).otherwise(topic)
            key = F.when(problem, F.col("key")).otherwise(key)
            value = F.when(problem, F.col("value")).otherwise(value)
        going = []
        for flow, sink in self._done:
            here = F.col("__path") == flow.path
            check_sink(self._columns, sink, flow.types)
            made = parts(sink, flow.types, flow.key, flow.value)
            topic = F.when(here, self._located(sink, made.topic)).otherwise(topic)
            key = F.when(here, self._located(sink, made.key)).otherwise(key)
            value = F.when(here, self._located(sink, made.value)).otherwise(value)
            going.append(placed(self._columns, sink, flow.types, here, flow.key, flow.value))
        rows = with_partitions(rows, going, self._partitions)
        return rows.select(
            topic.alias("topic"),
            key.alias("key"),
            value.alias("value"),
            F.col(record.HEADERS).alias("headers"),
            F.col(record.TIMESTAMP).alias("timestamp"),
            F.col(record.PARTITION).alias("task"),
            F.col(record.OFFSET).alias("sequence"),
            F.col(record.TOPIC).alias("origin"),
            problem.alias("problem"),
            *places(rows),
        )

    def _located(self, node: Node, result: object) -> Column:
        """What a user's function returned; if it fails, the error names the step and the record."""
        where = (F.col(name) for name in (record.TOPIC, record.PARTITION, record.OFFSET))
        return self._columns.located(node, _as_column(result), *where)

    def _new_path(self) -> int:
        self._paths += 1
        return self._paths


def _copied(rows: DataFrame, paths: Column, topic: Column) -> DataFrame:
    """One copy of each row per path; a barrier, which has no topic, stays as it is."""
    present = F.filter(paths, lambda path: path.isNotNull())
    chosen = F.when(topic.isNull(), F.array(F.lit(0))).otherwise(present)
    others = [column for column in rows.columns if column != "__path"]
    return rows.select(*others, F.explode(chosen).alias("__path"))


def _as_column(result: object) -> Column:
    return result if isinstance(result, Column) else F.lit(result)
