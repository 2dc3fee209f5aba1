"""Where a record's time comes from: Kafka's timestamp, the user's function, or the clock."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegralType, TimestampType

from tidemill.engine.columns import Columns
from tidemill.engine.operators.source import source_types
from tidemill.engine.operators.stateless import of_record
from tidemill.engine.reading import Reader
from tidemill.time import ExtractedTime, OnInvalid, WallClock
from tidemill.topology import TopologyError
from tidemill.topology.nodes import TopicSource


def with_times(columns: Columns, frame: DataFrame, readers: Sequence[Reader]) -> DataFrame:
    """Rows of records that were read, with the time in `timestamp` that each source asks for."""
    time, asked = F.col("timestamp"), False
    for reader in readers:
        extractor = reader.node.timestamp_extractor
        if isinstance(extractor, ExtractedTime | WallClock):
            asked = True
            time = F.when(reader.here, _time(columns, reader, extractor)).otherwise(time)
    return frame.withColumn("timestamp", time).where(F.col("timestamp").isNotNull()) if asked else frame


def _time(columns: Columns, reader: Reader, extractor: ExtractedTime | WallClock) -> Column:
    """The time of a source's records; null marks one that is to be skipped."""
    node = reader.node
    if isinstance(extractor, WallClock):
        return F.current_timestamp()
    if extractor.on_invalid is OnInvalid.PARTITION_TIME:
        raise TopologyError(
            "a record without a time cannot take that of its partition here",
            node=node.name,
            place=node.place,
            remedy="choose fail or skip for on_invalid, or give such records a time in the function",
        )
    fn, types = of_record(extractor.fn, extractor.with_key), source_types(node)
    type_ = columns.type_of_record(node, fn, types.key, types.value)
    if not isinstance(type_, TimestampType | IntegralType):
        raise TopologyError(
            f"the timestamp function returns {type_.simpleString()}",
            node=node.name,
            place=node.place,
            remedy="return a timestamp, or milliseconds since the epoch as a whole number",
        )
    found = fn(reader.key, reader.value)
    time = found if isinstance(type_, TimestampType) else F.timestamp_millis(found)
    valid = F.coalesce(time >= F.timestamp_seconds(F.lit(0)), F.lit(False))
    if extractor.on_invalid is OnInvalid.SKIP:
        return F.when(valid, time)
    return F.when(valid, time).otherwise(_invalid(node).cast("timestamp"))


def _invalid(node: TopicSource) -> Column:
    place = F.concat(
        F.lit(f"`{node.name}` found no valid time in the record at "),
        F.concat_ws(" ", F.col("topic"), F.col("partition").cast("string"), F.col("offset").cast("string")),
        F.lit("; extracted_time(on_invalid=...) decides what happens to such records"),
    )
    return F.raise_error(place)
