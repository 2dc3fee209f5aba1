"""From source frames to output rows: a topology compiled to one chain of DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidemill.engine.columns import HEADERS, Columns
from tidemill.engine.copartitioning import CoPartitioning
from tidemill.engine.exposed import Exposed
from tidemill.engine.fixed import RowForm, fixed
from tidemill.engine.handlers import Handlers
from tidemill.engine.levels import Levels
from tidemill.engine.lowering import Lowering, Types
from tidemill.engine.meeting import meeting
from tidemill.engine.placement import Partitions
from tidemill.engine.python.clock import ticks
from tidemill.engine.python.program import Settings
from tidemill.engine.stateless import is_stateless, stateless_output
from tidemill.engine.steps import PhysicalPlan, physical_plan
from tidemill.engine.tasks import task_ids
from tidemill.engine.tiers import uses_python
from tidemill.topology import StoreSpec, Topology

SOURCE_COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, "
    f"headers {HEADERS}"
)
"""What a source frame must have; a row whose `topic` is null is a barrier and passes through everything."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A topology compiled for Spark.

    `output` has rows of (topic, key, value, headers, timestamp, task, sequence, problem): what a task sends,
    in the order of `sequence`. A problem is a record that could not be read or processed, with the reason
    in its headers.
    """

    output: DataFrame
    plan: PhysicalPlan
    types: Mapping[str, Types]
    dropped: Any
    stores: Mapping[str, StoreSpec] = field(default_factory=dict)
    """The stores of processors, as they are kept."""
    tables: Mapping[str, Exposed] = field(default_factory=dict)
    """The stores of tables that can be looked into."""


def build_pipeline(
    spark: SparkSession,
    topology: Topology,
    sources: Mapping[str, DataFrame],
    *,
    tasks: int,
    caching: bool = True,
    settings: Settings | None = None,
    from_kafka: bool = False,
    micro_batches: bool = False,
    handlers: Handlers | None = None,
    grown: Mapping[str, Sequence[int]] | None = None,
    partitions: Partitions | None = None,
    meeting_in: Partitions | None = None,
    co_partitioning: CoPartitioning = CoPartitioning.SHUFFLE,
    lone_partitions: bool = False,
) -> Pipeline:
    """Compile a topology over frames of Kafka records (`SOURCE_COLUMNS`).

    `sources` names the frame of each source node; nodes may share one, which is then read once and told
    apart by topic. `tasks` is how many tasks records are spread over. Without `caching` every update of a
    table goes out, with it the last one of each key and batch. `settings` is what processors
    learn of the application, `handlers` what happens to records that cannot be read, processed or written.
    `from_kafka` says that each partition of a frame is a topic's, `micro_batches` that batches have an end:
    then a topic's partitions can be the tasks as they are. `grown` names topics that got more partitions, and
    how many they have had; `partitions` tells the partitioners of sinks how many their topics have.
    `meeting_in` is how many partitions source topics had at first, `co_partitioning` what is assumed of them.
    `lone_partitions` says that no task reads more than one: it need not choose between records, so that
    real-time mode, too, can process them where they are read.
    """
    handlers = handlers or Handlers()
    stateless = is_stateless(topology) and not uses_python(topology)
    if stateless and not handlers.record_by_record:
        output, types = stateless_output(Columns(spark), topology, sources, handlers, partitions or {})
        output = fixed(output, RowForm.PASSING) if micro_batches else output
        return Pipeline(output, physical_plan(topology), types, None)
    plan = physical_plan(topology)
    lowering = Lowering(spark, topology, plan, caching, in_batches=micro_batches)
    if stateless:
        lowering.columns.instead_of_udf = (
            "a record cannot fail alone inside a UDF: use Spark functions or python_fn(), or leave "
            "processing.exception.handler and production.exception.handler at fail"
        )
    dropped = spark._jvm.io.tidemill.task.Dropped(spark._jsc.sc())  # type: ignore[union-attr]
    clock = None if settings is not None and settings.mocked_clock else ticks(spark, topology)
    shuffled = int(spark.conf.get("spark.sql.shuffle.partitions") or tasks)
    numbers = task_ids(tasks, shuffled)
    levels = Levels(
        lowering,
        sources,
        numbers,
        dropped,
        ticks=clock,
        settings=settings,
        handlers=handlers,
        in_place=stateless,
        from_kafka=from_kafka,
        placed=from_kafka and micro_batches and tasks == shuffled,
        lone=from_kafka and lone_partitions and tasks == shuffled,
        in_batches=micro_batches,
        grown=grown,
        meeting=meeting(plan, meeting_in or {}, co_partitioning),
    )
    for level in range(plan.depth):
        levels.add(level)
    output = levels.output(partitions or {})
    return Pipeline(output, plan, lowering.types, dropped, levels.stores, levels.tables)
