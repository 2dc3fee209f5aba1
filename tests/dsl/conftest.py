"""A builder per test, and the node a DSL object stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidemill import StreamsBuilder
from tidemill.topology import Node


@pytest.fixture
def builder() -> StreamsBuilder:
    return StreamsBuilder()


@pytest.fixture
def node(builder: StreamsBuilder) -> Callable[[Any], Any]:
    """The node of the built topology an object stands for."""

    def of(handle: Any) -> Node:
        return builder.build()[handle.name]

    return of
