"""The Columns of a record's metadata, which need Spark only when called."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from tidemill import record


@pytest.mark.parametrize("part", ["headers", "timestamp", "topic", "partition", "offset"])
def test_column_names(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    functions: Any = ModuleType("pyspark.sql.functions")
    functions.col = lambda name: f"column {name}"
    monkeypatch.setitem(sys.modules, "pyspark.sql.functions", functions)
    assert getattr(record, part)() == f"column __{part}"
