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

DEFECTS: dict[str, str] = {
    "test_column_treated_like_a_value[map-_stateless]": "map() of a stateless topology is called unguarded",
    "test_types_that_do_not_combine[_stateless]": "Spark's own log of the error reaches the terminal",
    "test_types_that_do_not_combine[_stateful]": "Spark's own log of the error reaches the terminal",
    "test_predicate_that_is_no_condition[_stateless]": "Spark's error comes through as it is",
    "test_predicate_that_is_no_condition[_stateful]": "it is noticed by the first record only",
    "test_flat_map_without_pairs[_stateless]": "an assertion fails instead",
    "test_topic_chosen_by_a_condition_in_python": "the function of to() is called unguarded",
    "test_merge_of_different_types[stateless]": "types are compared where there is state only",
    "test_source_without_a_serde[stream-key]": "an assertion fails instead, where there is no state",
    "test_source_without_a_serde[stream-value]": "an assertion fails instead, where there is no state",
    "test_serde_that_does_not_fit_its_sink": "Spark's error comes through as it is",
    "test_fields_a_sink_wants_and_the_value_lacks": "Spark's error comes through as it is",
}
"""Refusals that are not as they should be yet, by test; whoever mends one takes its line away."""

Refused = Callable[[StreamsBuilder | Topology], TopologyError]

_TRACES = ("py4j", "Traceback", "\tat ", "org.apache.spark", "java.lang", "SQLSTATE", "JVM stacktrace")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Expect the known defects to fail."""
    for item in items:
        if item.path.parent == Path(__file__).parent and item.name in DEFECTS:
            item.add_marker(pytest.mark.xfail(reason=DEFECTS[item.name], strict=True))


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
