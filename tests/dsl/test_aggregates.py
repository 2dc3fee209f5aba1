"""Aggregations of streams: operations, windows, emission and stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidemill import StreamsBuilder, python_fn, serdes, windows
from tidemill.topology import PythonFunction, StoreKind
from tidemill.topology.nodes import Cogroup, Count, Emit, Fold, Reduce, SparkAggregate, StreamAggregate

Of = Callable[[Any], Any]


def two(a: Any, b: Any) -> Any:
    return a


def three(key: Any, a: Any, b: Any) -> Any:
    return a


def test_operations(builder: StreamsBuilder, node: Of) -> None:
    grouped = builder.stream("orders").group_by_key()
    count = node(grouped.count())
    assert isinstance(count, StreamAggregate)
    assert count.op == Count()
    reduce = node(grouped.reduce(two)).op
    assert isinstance(reduce, Reduce)
    assert reduce.fn is two
    spark = node(grouped.aggregate(two, store="s")).op
    assert isinstance(spark, SparkAggregate)
    assert spark.with_key
    fold = node(grouped.aggregate(0, three, store="f")).op
    assert isinstance(fold, Fold)
    assert (fold.init, fold.fn, fold.merger) == (0, three, None)


def test_spark_aggregate_of_the_value_alone(builder: StreamsBuilder, node: Of) -> None:
    assert node(builder.stream("n").group_by_key().aggregate(lambda value: value)).op.with_key is False


def test_spark_aggregate_of_any_number_of_columns_gets_the_value(builder: StreamsBuilder, node: Of) -> None:
    def count_distinct(column: Any, *columns: Any) -> Any:
        return column

    assert node(builder.stream("n").group_by_key().aggregate(count_distinct)).op.with_key is False


def test_python_fold(builder: StreamsBuilder, node: Of) -> None:
    fn = python_fn(three, returns="bigint")
    made = node(builder.stream("n").group_by_key().aggregate(0, fn)).op.fn
    assert isinstance(made, PythonFunction)
    assert (made.fn, made.returns) == (three, "bigint")


@pytest.mark.parametrize(
    ("window", "kind", "retention"),
    [
        (windows.tumbling("10 s", grace="5 s"), StoreKind.WINDOW, 15_000),
        (windows.hopping("10 s", "2 s"), StoreKind.WINDOW, 10_000),
        (windows.sliding("10 s", grace="1 s"), StoreKind.WINDOW, 21_000),
        (windows.session("10 s", grace="1 s"), StoreKind.SESSION, 11_000),
        (windows.unlimited(), StoreKind.WINDOW, None),
        (windows.custom(lambda timestamp: timestamp, "1 day"), StoreKind.WINDOW, 86_400_000),
    ],
    ids=lambda item: getattr(item, "word", ""),
)
def test_windows(
    builder: StreamsBuilder, node: Of, window: Any, kind: StoreKind, retention: int | None
) -> None:
    made = node(builder.stream("orders").group_by_key().windowed_by(window).count())
    assert made.window == window
    assert (made.store.kind, made.store.retention) == (kind, retention)
    assert made.name == f"count-of-orders-{window.word}"


@pytest.mark.parametrize("verb", ["emit", "emit_strategy"])
def test_emission(builder: StreamsBuilder, node: Of, verb: str) -> None:
    windowed = builder.stream("orders").group_by_key().windowed_by(windows.tumbling("1 h"))
    assert node(windowed.count(store="updates")).emit is Emit.UPDATE
    assert node(getattr(windowed, verb)("close").count(store="finals")).emit is Emit.CLOSE


def test_store_options(builder: StreamsBuilder) -> None:
    orders = builder.stream("orders", key=serdes.string)
    windowed = orders.group_by_key().windowed_by(windows.tumbling("1 h"))
    windowed.count(store="a", retention="1 day", caching=False, logging={"segment.ms": "1000"})
    windowed.count(store="b")
    stores = builder.build().stores
    assert (stores["a"].retention, stores["a"].caching) == (86_400_000, False)
    assert stores["a"].changelog_config == (("segment.ms", "1000"),)
    assert (stores["a"].changelog, stores["b"].changelog) == ("a-changelog", None)


def test_unknown_store_option_is_refused(builder: StreamsBuilder) -> None:
    with pytest.raises(TypeError, match="cache"):
        builder.stream("orders").group_by_key().count(cache=True)  # type: ignore[call-arg]


def test_store_without_a_name_is_not_queryable(builder: StreamsBuilder) -> None:
    grouped = builder.stream("orders").group_by_key()
    assert grouped.count().queryable_store_name is None
    assert grouped.count(store="counts").queryable_store_name == "counts"


def test_versioned_aggregate_store(builder: StreamsBuilder) -> None:
    builder.stream("orders").group_by_key().count(store="counts", versioned="1 h")
    assert builder.build().stores["counts"].kind is StoreKind.VERSIONED


def test_cogroup(builder: StreamsBuilder, node: Of) -> None:
    a = builder.stream("a", key=serdes.string).group_by_key()
    b = builder.stream("b", key=serdes.string).group_by_key()
    c = builder.stream("c", key=serdes.string).group_by_key()
    cogrouped = a.cogroup(three).cogroup(b, three).cogroup(c, three)
    made = node(cogrouped.aggregate(0))
    assert isinstance(made, Cogroup)
    assert made.parents == ("stream-of-a", "stream-of-b", "stream-of-c")
    assert made.aggregators == (three, three, three)
    assert (made.name, made.key) == ("cogroup-of-a-and-b-and-c", serdes.string)
    sessions = node(cogrouped.windowed_by(windows.session("1 min")).aggregate(0, merger=three))
    assert (sessions.merger, sessions.store.kind) == (three, StoreKind.SESSION)
    assert sessions.name == "cogroup-of-a-and-b-and-c-session"


def test_initializer_may_be_a_function(builder: StreamsBuilder, node: Of) -> None:
    init = lambda: 0  # noqa: E731  a lambda is what users write
    assert node(builder.stream("n").group_by_key().aggregate(init, three)).op.init is init
