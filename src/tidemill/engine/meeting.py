"""Sources that meet in one task: how their records get there.

Kafka Streams trusts that topics which meet are partitioned alike, and is silently wrong where they are not.
A shuffle by key is always right and costs time. So partitions are read where they are, and the place of every
key is checked; where one is not at home, the app goes over to a shuffle. Both put a key into the same task,
so its state is found either way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidemill.engine.copartitioning import CoPartitioning
from tidemill.engine.serdes.jvm import call, call_here
from tidemill.engine.steps import PhysicalPlan
from tidemill.topology.nodes import TopicSource


@dataclass(frozen=True, slots=True)
class Meeting:
    """Sources of the first level whose tasks follow Kafka's partitions, although they meet others there."""

    partitions: Mapping[str, int] = field(default_factory=dict)
    """By source step, how many partitions its topics have; all that meet each other have equally many."""
    way: CoPartitioning = CoPartitioning.SHUFFLE
    complete: bool = True
    """Whether all sources that meet others are among them; else records move in any case."""

    @property
    def in_place(self) -> bool:
        """Whether records can be processed where they are read."""
        return self.complete and self.way is not CoPartitioning.SHUFFLE

    def shuffled(self) -> Meeting:
        """The same tasks, without any assumption."""
        return replace(self, way=CoPartitioning.SHUFFLE)

    def home(self, step: str) -> Column:
        """The partition whose task a record with a key belongs to."""
        key, partition, count = F.col("key"), F.col("partition"), self.partitions[step]
        if not self.in_place:
            return call("Keys.murmur2", "int", (key, "binary")) % count
        if self.way is CoPartitioning.TRUSTED:
            return partition
        return call_here(
            "Keys.atHome",
            "int",
            (key, "binary"),
            (F.lit(count), "int"),
            (partition, "int"),
            (F.col("topic"), "string"),
            (F.col("offset"), "bigint"),
        )


def meeting(plan: PhysicalPlan, partitions: Mapping[str, int], way: CoPartitioning) -> Meeting:
    """What `way` means for a plan whose topics have so many partitions."""
    counts: dict[str, int] = {}
    for group in plan.meetings:
        nodes = [plan.steps[name].node for name in group]
        topics = {topic for node in nodes if isinstance(node, TopicSource) for topic in node.topics}
        found = {partitions.get(topic) for topic in topics}
        if len(found) == 1 and (count := found.pop()) is not None:
            counts.update(dict.fromkeys(group, count))
    sources = {name for name, step in plan.steps.items() if isinstance(step.node, TopicSource)}
    keyed = {name for name in sources & plan.keyed if plan.levels[name] == 0}
    return Meeting(counts, way, complete=keyed <= counts.keys())
