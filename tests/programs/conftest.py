"""Runs a program of the documents on the test driver, and shows what it is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tidemill import StreamsBuilder, Topology

if TYPE_CHECKING:
    from tidemill.testing import TopologyTestDriver

Run = Callable[[StreamsBuilder], "TopologyTestDriver"]


@pytest.fixture
def run() -> Iterator[Run]:
    """Start drivers that are closed when the test ends; all share one Spark session."""
    from tidemill.testing import TopologyTestDriver

    with ExitStack() as started:
        yield lambda builder: started.enter_context(TopologyTestDriver(builder))


@pytest.fixture
def tiers() -> Callable[[Topology], set[str]]:
    """What executes the nodes of a topology: "catalyst", "kernel", "python"."""
    from tidemill.engine.explain import explain

    return lambda topology: {str(row.tier) for row in explain(topology)}
