"""Which partition of its topic a record goes to, where that is not simply its key's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegralType, NullType

from tidemill.engine import serdes
from tidemill.engine.columns import Columns
from tidemill.engine.lowering import Types
from tidemill.serde.base import Serde
from tidemill.topology import TopologyError
from tidemill.topology.nodes import Sink

Partitions = Mapping[str, int]
"""How many partitions each topic has; a topic that is not named has one."""

_PLACES = {"__to_partition": "partition", "__to_unhashed": "unhashed"}
"""What tells the sink where a record goes: on the way, and as the sink knows it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Rows on their way to a sink: which they are, and what their partition is chosen from."""

    here: Column
    sink: Sink
    serde: Serde
    key: Column
    value: Column
    many: bool = False
    """Whether the sink's partitioner gives arrays."""


def placed(columns: Columns, node: Sink, types: Types, here: Column, key: Column, value: Column) -> Placed:
    """The rows of a sink, once its partitioner was looked at."""
    serde = node.key or serdes.default_serde(types.key)
    return Placed(here, node, serde, key, value, check_partitioner(columns, node, types))


def check_partitioner(columns: Columns, node: Sink, types: Types) -> bool:
    """Whether a sink's partitioner gives arrays; one that gives no partitions is refused."""
    if node.partitioner is None:
        return False
    if node.topic is None:
        raise TopologyError(
            "a sink whose topic is chosen per record cannot choose the partition, too",
            node=node.name,
            place=node.place,
            remedy="leave partitioner= out, or split the stream and name each topic",
        )
    type_ = columns.type_of(node, _applied(node, 1), {"key": types.key, "value": types.value})
    element = type_.elementType if isinstance(type_, ArrayType) else type_
    if not isinstance(element, IntegralType | NullType):
        raise TopologyError(
            f"the partitioner returns {type_.simpleString()}",
            node=node.name,
            place=node.place,
            remedy="return the number of a partition, an array of them, or null for that of the key",
        )
    return isinstance(type_, ArrayType)


def with_partitions(frame: DataFrame, rows: Sequence[Placed], counts: Partitions) -> DataFrame:
    """The rows with what `places` hands to the sink, if anything.

    A partitioner may give several partitions, and its record then goes to each, or an empty array for none.
    """
    windowed = [each for each in rows if serdes.window_bytes(each.serde)]
    if windowed:
        unhashed = F.lit(None).cast("int")
        for each in windowed:
            unhashed = F.when(each.here, F.lit(serdes.window_bytes(each.serde))).otherwise(unhashed)
        frame = frame.withColumn("__to_unhashed", unhashed)
    chosen = [each for each in rows if each.sink.partitioner is not None]
    if chosen:
        numbers = F.array(F.lit(None).cast("int"))
        for each in chosen:
            numbers = F.when(each.here, _numbers(each, counts)).otherwise(numbers)
        frame = frame.select("*", F.explode(numbers).alias("__to_partition"))
    return frame


def places(frame: DataFrame) -> list[Column]:
    """The columns for the sink that `with_partitions` prepared."""
    return [F.col(name).alias(alias) for name, alias in _PLACES.items() if name in frame.columns]


def _numbers(each: Placed, counts: Partitions) -> Column:
    sink = each.sink
    assert sink.topic is not None
    result = _applied(sink, counts.get(sink.topic, 1))(each.key, each.value)
    by_key = F.array(F.lit(None).cast("int"))
    numbers = result.cast("array<int>") if each.many else F.array(result.cast("int"))
    return F.coalesce(numbers, by_key)


def _applied(sink: Sink, partitions: int) -> Callable[[Column, Column], Column]:
    """The partitioner with the number of partitions filled in; lists become arrays."""

    def placing(key: Column, value: Column) -> Column:
        assert sink.partitioner is not None
        result = sink.partitioner(key, value, F.lit(partitions))
        if isinstance(result, list | tuple):
            return F.array(*(F.lit(each) for each in result)).cast("array<int>")
        return F.lit(result)

    return placing
