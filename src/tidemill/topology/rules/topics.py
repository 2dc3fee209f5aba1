"""Topics: sources that share one must agree, and a sink must name one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from tidemill.serde.base import Serde
from tidemill.topology.errors import TopologyError
from tidemill.topology.graph import Topology
from tidemill.topology.nodes import Repartition, Sink, TopicSource
from tidemill.topology.rules.problem import problem


def sources_agree_on_serdes(topology: Topology) -> Iterator[TopologyError]:
    """One topic has one format, whether it is read as a stream or as a table."""
    for first, second in combinations(topology.sources, 2):
        shared = [topic for topic in second.topics if topic in first.topics]
        for part, ours, theirs in (("key", second.key, first.key), ("value", second.value, first.value)):
            if shared and ours is not None and theirs is not None and ours != theirs:
                yield problem(
                    second,
                    f"the topic `{shared[0]}` is read with two {part} serdes: "
                    f"{_name(theirs)} by `{first.name}` and {_name(ours)} by `{second.name}`",
                    f"give both the same {part}=",
                )


def topic_sets_are_equal_or_apart(topology: Topology) -> Iterator[TopologyError]:
    """Two sources read the same topics or different ones, never some in common."""
    for first, second in combinations(topology.sources, 2):
        common = _common(first, second)
        if common and set(first.topics) != set(second.topics):
            yield problem(
                second,
                f"`{first.name}` and `{second.name}` both read `{common[0]}` but not the same topics",
                "read each topic once and merge the streams",
            )


def sinks_have_a_topic(topology: Topology) -> Iterator[TopologyError]:
    """A sink names a topic or a function that chooses one."""
    for node in topology:
        if isinstance(node, Sink) and node.topic is None and node.chooser is None:
            yield problem(node, f"the sink `{node.name}` has no topic", 'name one: .to("topic")')


def repartitions_have_no_topic(topology: Topology) -> Iterator[TopologyError]:
    """A repartition is a shuffle by key: there is no topic whose partitions could be counted or chosen."""
    for node in topology:
        if isinstance(node, Repartition) and (node.partitions is not None or node.partitioner is not None):
            said = "a number of partitions" if node.partitions is not None else "a partitioner"
            yield problem(
                node,
                f"`{node.name}` has {said}, but no topic: Spark brings equal keys together",
                'leave it out, or write a topic with .to("topic") and read it with builder.stream("topic")',
            )


def _common(first: TopicSource, second: TopicSource) -> list[str]:
    if first.pattern is None and second.pattern is None:
        return sorted(set(first.topics) & set(second.topics))
    if first.pattern is not None and second.pattern is not None:
        return [first.pattern] if first.pattern == second.pattern else []
    pattern, topics = (first.pattern or second.pattern or ""), (*first.topics, *second.topics)
    return [topic for topic in topics if re.fullmatch(pattern, topic)]


def _name(serde: Serde) -> str:
    return f"{serde.name} ({serde.schema})"
