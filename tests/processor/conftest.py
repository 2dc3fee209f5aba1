"""What tests of processors share: stores in memory, and one Spark session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tidemill import state_store

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    from tidemill.engine.memory import driver_session

    folder: Path = tmp_path_factory.mktemp("driver")
    return driver_session(folder)


@pytest.fixture
def reopened() -> Callable[..., Callable[[], Any]]:
    """Makes a store whose state outlives it: every call saves the last one and opens it anew."""
    from tidemill.engine.python.cells import Cells, DictBackend
    from tidemill.engine.python.stores import open_store

    def make(**options: Any) -> Callable[[], Any]:
        backend, spec = DictBackend(), state_store("store", **options)
        last: list[Any] = []

        def again() -> Any:
            if last:
                last.pop().save()
            last.append(open_store(spec, Cells(backend)))
            return last[-1]

        return again

    return make
