"""Plan a topology that must be refused, and look at the refusal as a user would."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tidemill import StreamsBuilder, Topology, TopologyError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Refused = Callable[[StreamsBuilder | Topology], TopologyError]

_TRACES = ("py4j", "Traceback", "\tat ", "org.apache.spark", "java.lang", "SQLSTATE", "JVM stacktrace")


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """The Spark session test drivers share."""
    from tidemill.engine.memory import driver_session

    return driver_session(tmp_path_factory.mktemp("refused"))


@pytest.fixture
def refused(
    session: SparkSession, request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]
) -> Refused:
    """The error of a topology that cannot be planned: in Python's terms, with its place, before any start."""
    from tidemill.testing import TopologyTestDriver

    def refuse(builder: StreamsBuilder | Topology) -> TopologyError:
        running = {query.id for query in session.streams.active}
        with pytest.raises(TopologyError) as caught:
            TopologyTestDriver(builder, spark=session)
        assert {query.id for query in session.streams.active} == running, "a query was started"
        complete(caught.value, request.path)
        assert capfd.readouterr().err == "", "something went to the user's terminal"
        return caught.value

    return refuse


def complete(error: TopologyError, file: Path) -> None:
    """Check that an error names the node and the user's line, says what to do, and shows no JVM trace."""
    text = str(error)
    assert error.node, text
    assert f"node `{error.node}`" in text
    assert re.search(rf"{re.escape(str(file))}:\d+", text), text
    assert error.remedy, text
    assert f"Remedy: {error.remedy}" in text
    assert not [trace for trace in _TRACES if trace in text], text
