"""A query that fails tells what went wrong, not what another task then missed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tidemill import StreamsBuilder, serdes
from tidemill.engine.failures import ProcessingError, exception_of
from tidemill.engine.memory import MemoryRun, Piped

_MISSED = "Connection to streaming shuffle writer 4 closed before termination; the writer task likely failed."


def _failing(spark: SparkSession, folder: Path) -> MemoryRun:
    builder = StreamsBuilder()
    lines = builder.stream("in", key=serdes.string, value=serdes.string)
    broken = lines.select_key(
        lambda _, value: F.raise_error(F.concat(F.lit("no key in "), value)).cast("string")
    )
    broken.group_by_key().count(store="n").to_stream().to("out")
    return MemoryRun(builder.build(), folder, spark=spark)


def test_task_that_failed_is_told_before_one_that_missed_it(spark: SparkSession, tmp_path: Path) -> None:
    jvm: Any = spark._jvm
    run = _failing(spark, tmp_path)
    try:
        with pytest.raises(ProcessingError, match="no key in x7"):
            list(run.process([Piped("in", 0, b"k", b"x7", 1)]))
        missed = jvm.org.apache.spark.SparkException(_MISSED, None)
        query = SimpleNamespace(exception=lambda: jvm.scala.Option.apply(missed), runId=run._query.runId)
        assert "no key in x7" in str(exception_of(jvm, query).getMessage())
    finally:
        run.stop()


def test_failure_nobody_noted_is_told_as_it_is(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    missed = jvm.org.apache.spark.SparkException(_MISSED, None)
    query = SimpleNamespace(
        exception=lambda: jvm.scala.Option.apply(missed), runId=jvm.java.util.UUID.randomUUID
    )
    assert exception_of(jvm, query).getMessage() == _MISSED
