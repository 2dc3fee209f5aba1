"""Columns whose code is made once, when a query is declared, and not again for every batch."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame


def fixed(frame: DataFrame, *, stay: bool = False) -> DataFrame:
    """The same rows; the projections and filters at the end of the plan become one node for Spark's planner.

    What cannot be fixed stays as it is: the time of a batch, random numbers, functions in Python. Rows that
    `stay` where they are made are not written into Spark's binary form.
    """
    spark = frame.sparkSession
    rows: Any = spark._jvm.io.tidemill.plan.FixedRows  # type: ignore[union-attr]
    return DataFrame(rows.apply(frame._jdf, stay), spark)
