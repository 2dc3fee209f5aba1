"""Joins: which node each pair of sides makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidemill import StreamsBuilder, serdes, windows
from tidemill.topology.nodes import (
    ForeignKeyJoin,
    How,
    StreamGlobalJoin,
    StreamStreamJoin,
    StreamTableJoin,
    TableTableJoin,
)

Of = Callable[[Any], Any]
HOWS = [("join", How.INNER), ("left_join", How.LEFT), ("outer_join", How.OUTER)]


def two(left: Any, right: Any) -> Any:
    return left


def three(key: Any, left: Any, right: Any) -> Any:
    return left


@pytest.mark.parametrize(("joiner", "with_key"), [(two, False), (three, True)])
@pytest.mark.parametrize(("verb", "how"), HOWS)
def test_stream_with_stream(
    builder: StreamsBuilder, node: Of, verb: str, how: How, joiner: Any, with_key: bool
) -> None:
    left = builder.stream("l", key=serdes.string, value=serdes.long)
    right = builder.stream("r", key=serdes.string, value=serdes.double)
    made = node(getattr(left, verb)(right, joiner, windows.join("5 s", grace="1 s"), store="pairs"))
    assert isinstance(made, StreamStreamJoin)
    assert (made.how, made.with_key, made.window.before) == (how, with_key, 5000)
    assert (made.left_store.name, made.right_store.name) == (
        "pairs-this-join-store",
        "pairs-other-join-store",
    )
    assert (made.left_store.value, made.right_store.value) == (serdes.long, serdes.double)
    assert made.left_store.retention == 11_000
    assert not made.left_store.caching


def test_self_join(builder: StreamsBuilder, node: Of) -> None:
    stream = builder.stream("s")
    made = node(stream.join(stream, two, windows.join("5 s")))
    assert made.parents == ("stream-of-s", "stream-of-s")


@pytest.mark.parametrize(("verb", "how"), HOWS[:2])
def test_stream_with_table(builder: StreamsBuilder, node: Of, verb: str, how: How) -> None:
    made = node(getattr(builder.stream("s"), verb)(builder.table("t"), three))
    assert isinstance(made, StreamTableJoin)
    assert (made.how, made.with_key, made.grace, made.buffer) == (how, True, None, None)


def test_stream_with_versioned_table_waits(builder: StreamsBuilder, node: Of) -> None:
    made = node(builder.stream("s").join(builder.table("t", versioned="1 min"), two, grace="5 s"))
    assert made.grace == 5000
    assert made.buffer.name == "join-of-s-and-t-buffer"


@pytest.mark.parametrize(("verb", "how"), HOWS[:2])
def test_stream_with_global_table(builder: StreamsBuilder, node: Of, verb: str, how: How) -> None:
    made = node(getattr(builder.stream("s"), verb)(builder.global_table("g"), two, key=two))
    assert isinstance(made, StreamGlobalJoin)
    assert (made.how, made.key_selector, made.needs_key) == (how, two, False)


@pytest.mark.parametrize(("verb", "how"), HOWS)
def test_table_with_table(builder: StreamsBuilder, node: Of, verb: str, how: How) -> None:
    left = builder.table("l", key=serdes.string)
    joined = getattr(left, verb)(builder.table("r"), two, store="both", value=serdes.long)
    made = node(joined)
    assert isinstance(made, TableTableJoin)
    assert (made.how, made.store.name, made.store.key) == (how, "both", serdes.string)
    assert joined.queryable_store_name == "both"


@pytest.mark.parametrize(("extractor", "with_key"), [(lambda value: value, False), (two, True)])
@pytest.mark.parametrize(("verb", "how"), HOWS[:2])
def test_foreign_key(
    builder: StreamsBuilder, node: Of, verb: str, how: How, extractor: Any, with_key: bool
) -> None:
    made = node(getattr(builder.table("l"), verb)(builder.table("r"), two, foreign_key=extractor))
    assert isinstance(made, ForeignKeyJoin)
    assert (made.how, made.key_extractor, made.extractor_with_key) == (how, extractor, with_key)


def test_join_after_a_new_key_is_shuffled_on_that_side_only(builder: StreamsBuilder) -> None:
    left = builder.stream("l").select_key(two)
    left.join(builder.stream("r"), two, windows.join("5 s"), name="j").to("out")
    assert [(s.parent, s.topic) for s in builder.build().shuffles()] == [
        ("select-key-of-l", "j-left-repartition")
    ]
