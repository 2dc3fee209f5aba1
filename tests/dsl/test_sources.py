"""Sources: topics, patterns, time and where reading starts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tidemill import StreamsBuilder, serdes, time
from tidemill.time import ExtractedTime, WallClock
from tidemill.topology.nodes import OffsetReset, ResetPolicy, StreamSource

Of = Callable[[Any], Any]


def test_topic_read_twice_is_one_source(builder: StreamsBuilder) -> None:
    first = builder.stream("orders", value=serdes.long)
    second = builder.stream("orders", value=serdes.long)
    assert first.name == second.name
    assert len(builder.build()) == 1


def test_table_read_twice_is_one_source(builder: StreamsBuilder) -> None:
    assert builder.table("users").name == builder.table("users").name
    assert builder.global_table("rates").name == builder.global_table("rates").name
    assert len(builder.build()) == 2


def test_several_topics(builder: StreamsBuilder, node: Of) -> None:
    made = node(builder.stream(["web", "shop", "web"]))
    assert isinstance(made, StreamSource)
    assert made.topics == ("web", "shop")


def test_pattern(builder: StreamsBuilder, node: Of) -> None:
    made = node(builder.stream(re.compile(r"orders-\d+"), name="all-orders"))
    assert (made.topics, made.pattern) == ((), r"orders-\d+")


def test_time_from_a_function(builder: StreamsBuilder, node: Of) -> None:
    made = node(builder.stream("orders", timestamp=lambda key, value: value.at)).timestamp_extractor
    assert isinstance(made, ExtractedTime)
    assert made.with_key


def test_time_from_a_function_that_may_fail(builder: StreamsBuilder, node: Of) -> None:
    extractor = time.extracted_time(lambda key, value: value.at, on_invalid="skip")
    made = node(builder.stream("orders", timestamp=extractor)).timestamp_extractor
    assert (made.with_key, made.on_invalid) == (True, time.OnInvalid.SKIP)


def test_time_of_the_wall(builder: StreamsBuilder, node: Of) -> None:
    assert node(builder.stream("orders", timestamp=time.wall_clock())).timestamp_extractor == WallClock()


@pytest.mark.parametrize(
    ("reset", "policy", "duration"),
    [
        ("earliest", ResetPolicy.EARLIEST, None),
        ("latest", ResetPolicy.LATEST, None),
        ("none", ResetPolicy.NONE, None),
        ("by_duration:PT1H", ResetPolicy.BY_DURATION, 3_600_000),
        (OffsetReset(ResetPolicy.LATEST), ResetPolicy.LATEST, None),
    ],
)
def test_offset_reset(
    builder: StreamsBuilder, node: Of, reset: Any, policy: ResetPolicy, duration: int | None
) -> None:
    assert node(builder.stream("orders", offset_reset=reset)).offset_reset == OffsetReset(policy, duration)
