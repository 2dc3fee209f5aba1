"""Records of topics as rows: bytes are decoded once, and bytes that a serde cannot read never become null."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tidemill.engine import letters, serdes
from tidemill.engine.handlers import DESERIALIZATION, Handlers, Outcome
from tidemill.engine.operators.source import decoded_pair, serde_of
from tidemill.engine.serdes.jvm import call, call_here
from tidemill.engine.types import data_type
from tidemill.serde.base import Serde
from tidemill.topology.nodes import TopicSource

_BROKEN: Final = "__broken"
_PARTS: Final = ("key", "value")
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
    checks = [check for reader in readers for check in _checks(reader)]
    fails = handlers.deserialization is Outcome.FAIL
    guards = {(check.reader.number, check.part): check for check in checks if fails}
    decoded = []
    for reader in readers:
        for part, value in zip(_PARTS, decoded_pair(reader.node), strict=True):
            guard = guards.get((reader.number, part))
            whole = value if guard is None else F.coalesce(value, guard.refusal)
            decoded.append(F.when(reader.here, whole).alias(f"__{part}{reader.number}"))
    rows = rows.select("*", *decoded)
    if not checks:
        return rows
    if fails:
        return rows.where(reduce(and_, (check.was_read for check in checks)))
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
        return self.reader.here & serdes.is_broken(self.serde, F.col(self.part), self._value)

    @property
    def refusal(self) -> Column:
        """What stands in for a value that is null: it fails unless null is what the bytes say.

        That is decided where a value is read and not in a filter behind it: Spark would move a filter
        in front, and read everything twice.
        """
        node, data = self.reader.node, F.col(self.part)
        refuse = call_here(
            "Broken.refuse",
            data_type(self.serde.schema),
            (F.lit(node.name), "string"),
            (F.lit(str(node.place or "")), "string"),
            (F.col("topic"), "string"),
            (F.col("partition"), "int"),
            (F.col("offset"), "bigint"),
            (self.message, "string"),
        )
        return F.when(serdes.is_broken(self.serde, data, F.lit(None)), refuse)

    @property
    def was_read(self) -> Column:
        """True; a value that is asked about is read even where nobody needs it."""
        return call_here("Broken.wasRead", "boolean", (self._value.isNull(), "boolean"))

    @property
    def serde(self) -> Serde:
        return serde_of(self.reader.node, self.part)

    @property
    def _value(self) -> Column:
        return self.reader.key if self.part == "key" else self.reader.value

    @property
    def message(self) -> Column:
        words = ((F.lit(self.part), "string"), (F.lit(self.serde.name), "string"))
        return call("Broken.message", "string", *words, (F.col(self.part), "binary"))

    @property
    def told(self) -> Column:
        return F.struct(F.lit(self.reader.node.name).alias("node"), self.message.alias("message"))


def _checks(reader: Reader) -> Iterator[_Check]:
    for part in _PARTS:
        if not serdes.reads_everything(serde_of(reader.node, part)):
            yield _Check(reader, part)
