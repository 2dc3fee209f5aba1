"""A level of the Python tier: the program of its tasks, and the operator that runs it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from pyspark.sql import DataFrame
from pyspark.sql.streaming.stateful_processor_util import TransformWithStateInPandasUdfUtils
from pyspark.sql.types import StructType
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from tidemill.engine import serdes
from tidemill.engine.lowering import Lowering, Types
from tidemill.engine.operators.source import source_types
from tidemill.engine.python.convert import is_windowed, reader, writer
from tidemill.engine.python.operator import PythonLevel
from tidemill.engine.python.program import (
    Entry,
    FoldPlan,
    KeeperPlan,
    NodePlan,
    OutputPlan,
    Program,
    Settings,
    ValuePlan,
)
from tidemill.engine.steps import Step, read_only_stores
from tidemill.engine.types import java_type
from tidemill.topology import StoreKind, StoreSpec
from tidemill.topology.nodes import Process, TransformValues

_NO_TIMERS = "None"


class Port(Protocol):
    """What this room needs to know of a way out of a level."""

    name: str
    step: str
    types: Types
    target: str
    slot: int


def python_program(
    low: Lowering,
    steps: Sequence[Step],
    plans: Mapping[str, NodePlan],
    readers: Sequence[Step],
    arriving: Sequence[Any],
    passing: Sequence[Any],
    outputs: Sequence[Any],
    *,
    settings: Settings,
    problems: int | None = None,
) -> Program:
    """The program of a level: its steps, then the ports in and out around them."""
    program = Program(
        id=uuid.uuid4().hex,
        width=len(outputs),
        application_id=settings.application_id,
        configs=dict(settings.configs),
        mocked_clock=settings.mocked_clock,
        problems=problems,
    )
    index = {step.name: program.add(replace(plans[step.name], children=[])) for step in steps}
    for step in steps:
        program.stores |= _stores(low, step, plans[step.name])
        for slot, edge in enumerate(step.inputs):
            if not edge.shuffled and edge.parent in index and edge.parent in low.plan.levels:
                program.connect(index[edge.parent], index[step.name], slot, step.node.name)
    leaving = {port.name: position for position, port in enumerate(outputs)}
    for position, port in enumerate(outputs):
        if port not in passing and port.step in index:
            program.connect(index[port.step], _exit(program, low, port, position), 0, _child(low, port))
    for step in readers:
        # What a later level reads passes; what this one reads may have to pass as well.
        beyond = [port for port in outputs if port.step == step.name and ">read" in port.name]
        node, types = index.get(step.name), source_types(step.node)
        program.ports.append(_entry(types, node, 0, leaving, beyond, from_topic=True))
    for port in arriving:
        program.ports.append(_entry(port.types, index[port.target], port.slot, leaving, []))
    program.ports += [Entry(passing=leaving[port.name]) for port in passing]
    return program


def python_operator(frame: DataFrame, program: Program, schema: StructType) -> DataFrame:
    """The rows a program makes of the rows that come in."""
    # As GroupedData.transformWithState does it; that one wants pandas, which rows do not need.
    util = TransformWithStateInPandasUdfUtils(PythonLevel(program), _NO_TIMERS)
    kind = PythonEvalType.SQL_TRANSFORM_WITH_STATE_PYTHON_ROW_UDF
    udf = UserDefinedFunction(util.transformWithStateUDF, returnType=schema, evalType=kind)
    column = udf(*(frame[name] for name in frame.columns))
    spark = frame.sparkSession
    rows = frame.groupBy("task")._jgd.transformWithStateInPySpark(
        column._jc, java_type(spark, schema), "Update", _NO_TIMERS, None, ""
    )
    return DataFrame(rows, spark)


def _entry(
    types: Types,
    node: int | None,
    slot: int,
    leaving: Mapping[str, int],
    beyond: Sequence[Any],
    *,
    from_topic: bool = False,
) -> Entry:
    if node is None:
        assert len(beyond) == 1
        return Entry(passing=leaving[beyond[0].name])
    also = tuple(leaving[port.name] for port in beyond)
    return Entry(
        node=node,
        slot=slot,
        key=reader(types.key),
        value=reader(types.value),
        also=also,
        from_topic=from_topic,
    )


def _exit(program: Program, low: Lowering, port: Any, position: int) -> int:
    node = low.plan.steps[port.step].node
    return program.add(
        OutputPlan(
            name=f"{port.name}/out",
            place=None if node.place is None else str(node.place),
            sender=_sender(low, port),
            port=position,
            key=writer(port.types.key),
            value=writer(port.types.value),
            needs_key=port.level is not None and not port.stays and ">read" not in port.name,
        )
    )


def _sender(low: Lowering, port: Any) -> str:
    """The step whose records these are: a sink's are those of the step before it."""
    step = low.plan.steps[port.step]
    return step.inputs[0].parent if port.level is None and step.inputs else step.name


def _child(low: Lowering, port: Any) -> str:
    step = low.plan.steps.get(port.target) if port.target else None
    return low.plan.steps[port.step].node.name if step is None else step.node.name


def _stores(low: Lowering, step: Step, plan: NodePlan) -> dict[str, StoreSpec]:
    """The stores of a step; those it only reads are copies of their own."""
    node = step.node
    if isinstance(plan, FoldPlan):
        spec = StoreSpec(name=plan.store, key=plan.keys, value=plan.values, timestamped=True)
        return {plan.store: spec}
    if isinstance(plan, KeeperPlan):
        return {plan.store: _typed(node.store, low.types[step.name])}  # type: ignore[attr-defined]
    if isinstance(plan, ValuePlan) and plan.store is not None:
        return {plan.store: _copied(node.store, low.types[step.name])}  # type: ignore[attr-defined]
    if not isinstance(node, Process | TransformValues):
        return {}
    fed = read_only_stores(low.topology, node)
    found = {store.name: store for store in node.stores if store.name not in fed}
    found |= {name: _copied(low.topology.stores[name], low.types[owner]) for name, owner in fed.items()}
    if isinstance(node, TransformValues) and node.store is not None:
        found[node.store.name] = _typed(node.store, low.types[step.name])
    keepers = (low.plan.steps[name] for name in low.plan.steps if name not in low.plan.levels)
    return {name: spec for name, spec in found.items() if not any(_keeps(each, name) for each in keepers)}


def _keeps(step: Step, store: str) -> bool:
    return any(own.name == store for own in step.node.owned_stores)


def _typed(spec: StoreSpec, types: Types) -> StoreSpec:
    key = spec.key or serdes.default_serde(types.key)
    return replace(spec, key=key, value=spec.value or serdes.default_serde(types.value))


def _copied(spec: StoreSpec, types: Types) -> StoreSpec:
    key = types.key
    if is_windowed(key) and spec.kind in (StoreKind.WINDOW, StoreKind.SESSION):
        assert isinstance(key, StructType)
        key = key["key"].dataType
    return replace(spec, key=serdes.default_serde(key), value=serdes.default_serde(types.value))
