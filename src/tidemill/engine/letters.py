"""Dead letters: a record as it was read, with headers that tell why it is not in the output."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidemill.engine.columns import HEADERS
from tidemill.kafka.dead_letters import (
    APPLICATION,
    EXCEPTION,
    KIND,
    MESSAGE,
    NODE,
    OFFSET,
    PARTITION,
    STACKTRACE,
    TIMESTAMP,
    TOPIC,
)

__all__ = [
    "APPLICATION",
    "EXCEPTION",
    "KIND",
    "MESSAGE",
    "NODE",
    "OFFSET",
    "PARTITION",
    "RAW",
    "STACKTRACE",
    "TIMESTAMP",
    "TOPIC",
    "with_reason",
]

RAW: Final = f"struct<key:binary,value:binary,headers:{HEADERS},time:bigint>"
"""A record as it was read, next to what is made of it."""


def with_reason(headers: Column, reason: dict[str, Column]) -> Column:
    """The headers of a record, and those that tell what was wrong with it."""
    told = (
        F.struct(F.lit(name).alias("key"), value.cast("string").cast("binary").alias("value"))
        for name, value in reason.items()
    )
    return F.concat(F.coalesce(headers, F.array().cast(HEADERS)), F.array(*told).cast(HEADERS))
