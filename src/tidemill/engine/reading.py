"""Records of topics as rows: bytes are decoded once, and bytes that a serde cannot read never become null."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidemill.engine import letters, serdes
from tidemill.engine.handlers import DESERIALIZATION, Handlers, Outcome
from tidemill.engine.operators.source import decoded_pair, serde_of
from tidemill.engine.serdes.jvm import call, call_here
from tidemill.topology.nodes import TopicSource

_BROKEN: Final = "__broken"
_ERROR = "tidemill.DeserializationError"


@dataclass(frozen=True, slots=True)
class Reader:
    """A source, and how rows know that they are its own; `number` tells its columns from those of others."""

    node: TopicSource
    number: int
    way: str

    @property
    def here(self) -> Column:
        """Whether a row is for this source."""
        return F.col(self.way) == self.number

    @property
    def key(self) -> Column:
        """The decoded key; null in rows of others."""
        return F.col(f"__key{self.number}")

    @property
    def value(self) -> Column:
        """The decoded value; null in rows of others."""
        return F.col(f"__value{self.number}")


def read(rows: DataFrame, readers: Sequence[Reader], handlers: Handlers, problems: int) -> DataFrame:
    """Rows with the keys and values of all sources.

    Rows with bytes that cannot be read fail the query, or take the way `problems` with headers that say why.
    """
    decoded = []
    for reader in readers:
        key, value = decoded_pair(reader.node)
        decoded += [
            F.when(reader.here, key).alias(f"__key{reader.number}"),
            F.when(reader.here, value).alias(f"__value{reader.number}"),
        ]
    rows = rows.select("*", *decoded)
    checks = [check for reader in readers for check in _checks(reader)]
    if not checks:
        return rows
    if handlers.deserialization is Outcome.FAIL:
        # A filter that Spark may not move: no record gets past it unread.
        return rows.where(_refused(checks))
    broken = F.coalesce(*(F.when(check.is_broken, check.told) for check in checks))
    rows = rows.withColumn(_BROKEN, broken)
    is_broken = F.col(_BROKEN).isNotNull()
    reason = {
        letters.KIND: F.lit(DESERIALIZATION),
        letters.APPLICATION: F.lit(handlers.application_id),
        letters.NODE: F.col(_BROKEN)["node"],
        letters.EXCEPTION: F.lit(_ERROR),
        letters.MESSAGE: F.col(_BROKEN)["message"],
        letters.TOPIC: F.col("topic"),
        letters.PARTITION: F.col("partition"),
        letters.OFFSET: F.col("offset"),
        letters.TIMESTAMP: F.unix_millis("timestamp"),
    }
    told = letters.with_reason(F.col("headers"), reason)
    return rows.withColumns(
        {
            readers[0].way: F.when(is_broken, F.lit(problems)).otherwise(F.col(readers[0].way)),
            "headers": F.when(is_broken, told).otherwise(F.col("headers")),
        }
    ).drop(_BROKEN)


@dataclass(frozen=True, slots=True)
class _Check:
    """One part of a source's records."""

    reader: Reader
    part: str

    @property
    def is_broken(self) -> Column:
        value = self.reader.key if self.part == "key" else self.reader.value
        return self.reader.here & serdes.is_broken(
            serde_of(self.reader.node, self.part), F.col(self.part), value
        )

    @property
    def message(self) -> Column:
        serde = serde_of(self.reader.node, self.part)
        words = ((F.lit(self.part), "string"), (F.lit(serde.name), "string"))
        return call("Broken.message", "string", *words, (F.col(self.part), "binary"))

    @property
    def told(self) -> Column:
        return F.struct(F.lit(self.reader.node.name).alias("node"), self.message.alias("message"))


def _checks(reader: Reader) -> Iterator[_Check]:
    for part in ("key", "value"):
        if not serdes.reads_everything(serde_of(reader.node, part)):
            yield _Check(reader, part)


def _refused(checks: Sequence[_Check]) -> Column:
    """True for rows that could be read; the others fail."""
    column = F.lit(True)
    for check in reversed(checks):
        node = check.reader.node
        refuse = call_here(
            "Broken.refuse",
            "boolean",
            (F.lit(node.name), "string"),
            (F.lit(str(node.place or "")), "string"),
            (F.col("topic"), "string"),
            (F.col("partition"), "int"),
            (F.col("offset"), "bigint"),
            (check.message, "string"),
        )
        column = F.when(check.is_broken, refuse).otherwise(column)
    return column
