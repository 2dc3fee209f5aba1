"""Sources: records enter as they are; tables keep the last value of each key."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidemill.engine import serdes
from tidemill.engine.lowering import Lowering, Types, lowers
from tidemill.engine.operators.materialize import store_name
from tidemill.engine.steps import Step
from tidemill.engine.types import data_type
from tidemill.serde.base import Serde
from tidemill.topology import TopologyError
from tidemill.topology.nodes import GlobalTableSource, StreamSource, TableSource, TopicSource


@lowers(StreamSource)
def stream_source(low: Lowering, step: Step) -> tuple[Any, Types]:
    """A stream passes its records on."""
    return low.nodes.Pass(step.name), source_types(step.node)


@lowers(TableSource)
def table_source(low: Lowering, step: Step) -> tuple[Any, Types]:
    """A table keeps its rows where they are looked up or named."""
    node = step.node
    assert isinstance(node, TableSource)
    types = source_types(node)
    key, value = low.java_type(types.key), low.java_type(types.value)
    if node.history_retention is not None:
        return low.nodes.VersionedTable(step.name, key, value, node.store.name, node.history_retention), types
    store = store_name(low, node)
    return low.nodes.TableSource(step.name, key, value, store, low.is_cached(node.store)), types


@lowers(GlobalTableSource)
def global_table_source(low: Lowering, step: Step) -> tuple[Any, Types]:
    """Every task holds all rows of a global table."""
    node = step.node
    assert isinstance(node, GlobalTableSource)
    types = source_types(node)
    key, value = low.java_type(types.key), low.java_type(types.value)
    return low.nodes.TableSource(step.name, key, value, node.store.name, False), types


def source_types(node: Any) -> Types:
    """The types of a source's records, from its serdes."""
    assert isinstance(node, TopicSource)
    return Types(data_type(serde_of(node, "key").schema), data_type(serde_of(node, "value").schema))


def decoded_pair(node: TopicSource) -> tuple[Column, Column]:
    """The typed key and value of a frame of Kafka records."""
    return (
        serdes.decode(serde_of(node, "key"), F.col("key")),
        serdes.decode(serde_of(node, "value"), F.col("value")),
    )


def reads(node: TopicSource, topic: Column) -> Column:
    """Whether a source reads the topic of a record."""
    if node.pattern is not None:
        return topic.rlike(f"^(?:{node.pattern})$")
    return topic.isin(*node.topics)


def serde_of(node: TopicSource, part: str) -> Serde:
    """How the keys or values of a source are read."""
    serde: Serde | None = getattr(node, part)
    if serde is None:
        raise TopologyError(
            f"the {part}s of `{node.name}` have no serde",
            node=node.name,
            place=node.place,
            remedy=f"say how to read them, for instance {part}=serdes.string",
        )
    return serde
