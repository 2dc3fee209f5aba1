"""Rows by code that is generated once: the same rows, or left to Spark."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemill import serdes
from tidemill.engine.fixed import RowForm, fixed
from tidemill.engine.serdes import decode


def is_fixed(frame: DataFrame) -> bool:
    return "TaskMap" in frame._jdf.queryExecution().executedPlan().toString()


@pytest.fixture
def numbers(spark: SparkSession) -> DataFrame:
    return spark.range(20).select(F.col("id"), F.col("id").cast("string").alias("name")).repartition(2)


def test_projections_filters_and_explosions_give_the_same_rows(numbers: DataFrame) -> None:
    made = (
        numbers.where(F.col("id") % 3 == 0)
        .select("id", F.explode(F.array(F.col("name"), F.upper(F.concat(F.lit("n"), "name")))).alias("part"))
        .where(F.length("part") > 1)
        .select(F.struct("id", "part").alias("row"), (F.col("id") * 2).alias("twice"))
    )
    assert is_fixed(fixed(made))
    assert sorted(map(str, fixed(made).collect())) == sorted(map(str, made.collect()))
    assert len(made.collect()) == 10


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(F.current_timestamp, id="time of a batch"),
        pytest.param(F.rand, id="random"),
        pytest.param(lambda: F.expr("uuid()"), id="uuid"),
        pytest.param(F.monotonically_increasing_id, id="place of a row"),
        pytest.param(lambda: F.udf(lambda: 1, "int")(), id="python"),
    ],
)
def test_what_is_another_in_each_batch_is_left_to_spark(numbers: DataFrame, column) -> None:
    assert not is_fixed(fixed(numbers.select("id", column().alias("x"))))


def test_code_that_is_too_large_for_the_jvm_is_left_to_spark(numbers: DataFrame) -> None:
    cases = [F.when(F.col("id") == n, F.col("id") * n).otherwise(F.lit(n)) for n in range(1500)]
    made = numbers.select(F.greatest(*cases).alias("total"))
    assert not is_fixed(fixed(made))
    assert sorted(row.total for row in fixed(made).collect()) == [1499] * 20


def plain_rows(frame: DataFrame) -> list:
    """The rows of generated code as they are, before anything of Spark's reads them."""
    found = fixed(frame, RowForm.KEPT)._jdf.queryExecution().toRdd().collect()
    return [found[n] for n in range(len(found))]


def test_rows_that_stay_are_objects_of_their_own(numbers: DataFrame) -> None:
    made = numbers.coalesce(1).select(
        "id", F.when(F.col("id") > 2, F.struct("name", (F.col("id") + 1).alias("next"))).alias("row"), "name"
    )
    rows = sorted(plain_rows(made), key=lambda row: row.getLong(0))
    assert {row.getClass().getSimpleName() for row in rows} == {"GenericInternalRow"}
    assert [row.getUTF8String(2).toString() for row in rows] == [str(n) for n in range(20)]
    assert [row.isNullAt(1) for row in rows] == [True] * 3 + [False] * 17
    assert [row.getStruct(1, 2).getLong(1) for row in rows[3:]] == list(range(4, 21))


def test_values_that_are_written_into_one_object_are_copied(spark: SparkSession) -> None:
    """Spark's Avro deserialiser has one row for all: without a copy every row would have the last value."""
    serde = serdes.avro({"type": "record", "name": "R", "fields": [{"name": "n", "type": "long"}]})
    data = spark.createDataFrame([(bytes([2 * n]),) for n in range(5)], "data binary").coalesce(1)
    rows = plain_rows(data.select(decode(serde, F.col("data")).alias("value")))
    assert [row.getStruct(0, 1).getLong(0) for row in rows] == [0, 1, 2, 3, 4]


def test_a_frame_without_steps_stays_as_it_is(spark: SparkSession) -> None:
    assert not is_fixed(fixed(spark.range(3).toDF("id").repartition(2)))
