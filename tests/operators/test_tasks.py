"""Task numbers are where Spark's own hash puts them."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tidemill.engine.tasks import spark_partition, task_ids


def test_hash_is_sparks(spark: SparkSession) -> None:
    numbers = [0, 1, 2, 12, 4711, 2**31 - 1]
    frame = spark.createDataFrame([(n,) for n in numbers], "n int")
    rows = frame.select("n", F.pmod(F.hash("n"), F.lit(7)).alias("partition")).collect()
    assert {row.n: row.partition for row in rows} == {n: spark_partition(n, 7) for n in numbers}


@pytest.mark.parametrize(("tasks", "partitions"), [(1, 1), (4, 4), (4, 2), (7, 3), (16, 5)])
def test_tasks_are_spread_evenly(tasks: int, partitions: int) -> None:
    ids = task_ids(tasks, partitions)
    assert len(set(ids)) == tasks
    assert [spark_partition(number, partitions) for number in ids] == [n % partitions for n in range(tasks)]
