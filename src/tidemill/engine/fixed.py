"""Columns whose code is made once, when a query is declared, and not again for every batch."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pyspark.sql import DataFrame


class RowForm(StrEnum):
    """What rows are made for: only those that move need Spark's binary form."""

    BINARY = "BINARY"
    PASSING = "PASSING"
    """To be looked at before the next one is made."""
    KEPT = "KEPT"
    """To stay in their task, which keeps parts of them."""


def fixed(frame: DataFrame, form: RowForm = RowForm.BINARY) -> DataFrame:
    """The same rows; the projections and filters at the end of the plan become one node for Spark's planner.

    What cannot be fixed stays as it is: the time of a batch, random numbers, functions in Python.
    """
    spark = frame.sparkSession
    rows: Any = spark._jvm.io.tidemill.plan.FixedRows  # type: ignore[union-attr]
    return DataFrame(rows.apply(frame._jdf, str(form)), spark)
