"""What Spark's real-time mode cannot do, told before the query starts."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from tidemill.engine.pipeline import Pipeline
from tidemill.engine.tiers import runs_in_python
from tidemill.errors import UsageError
from tidemill.topology import TopologyError

_OTHERWISE = 'run the app with latency="throughput", or write the step with functions of Columns'


def slots_needed(partitions: int, tasks: int, depth: int) -> int:
    """How many tasks run at once: all of every level, and one per source partition, for the whole batch."""
    return partitions + tasks * depth


def refuse_in_real_time(spark: SparkSession, pipeline: Pipeline) -> None:
    """Refuse a pipeline that calls Python: its results would come only at the end of a long batch."""
    for step in pipeline.plan.steps.values():
        node = step.node
        if runs_in_python(node):
            raise TopologyError(
                f"`{node.name}` calls Python, which Spark's real-time mode cannot run",
                node=node.name,
                place=node.place,
                remedy=_OTHERWISE,
            )
    jvm: Any = spark._jvm
    called = jvm.io.tidemill.spark.PythonCalls.first(pipeline.output._jdf)
    if called is not None:
        raise UsageError(
            f"the Python function `{called}` is called for each record, which real-time mode cannot do",
            remedy=_OTHERWISE,
        )


def refuse_few_slots(spark: SparkSession, needed: int) -> None:
    """Refuse a local Spark in which tasks would wait for each other for ever."""
    context = spark.sparkContext
    if str(context.master).startswith("local") and context.defaultParallelism < needed:
        raise UsageError(
            f"real-time mode runs {needed} tasks at once, this Spark has {context.defaultParallelism} slots",
            where=context.master,
            remedy=f"start it as local[{needed}], lower `tasks`, or let the app start Spark by itself",
        )
