"""The verbs of tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidemill import StreamsBuilder, ValueTransformer, serdes, state_store, suppressed, windows
from tidemill.topology import StoreKind
from tidemill.topology.nodes import (
    Count,
    Fold,
    GlobalTableSource,
    Reduce,
    SelectKey,
    Suppress,
    TableAggregate,
    TableFilter,
    TableMapValues,
    TableSource,
    TableToStream,
    ToTable,
    TransformValues,
    UntilTimeLimit,
    UntilWindowCloses,
    WhenFull,
)

Of = Callable[[Any], Any]


def one(value: Any) -> Any:
    return value


def two(key: Any, value: Any) -> Any:
    return key, value


def three(key: Any, value: Any, aggregate: Any) -> Any:
    return aggregate


def test_sources(builder: StreamsBuilder, node: Of) -> None:
    users = node(builder.table("users", key=serdes.string, value=serdes.long, store="users"))
    assert isinstance(users, TableSource)
    assert (users.topic, users.store.key, users.store.value) == ("users", serdes.string, serdes.long)
    assert users.history_retention is None
    countries = node(builder.global_table("countries"))
    assert isinstance(countries, GlobalTableSource)
    assert not countries.store.logging


def test_versioned_source(builder: StreamsBuilder, node: Of) -> None:
    prices = node(builder.table("prices", versioned="1 hour"))
    assert prices.history_retention == prices.store.retention == 3_600_000
    assert prices.store.kind is StoreKind.VERSIONED


@pytest.mark.parametrize(("verb", "negate"), [("filter", False), ("filter_not", True)])
def test_filters(builder: StreamsBuilder, node: Of, verb: str, negate: bool) -> None:
    made = node(getattr(builder.table("users"), verb)(two))
    assert isinstance(made, TableFilter)
    assert (made.with_key, made.negate, made.store) == (True, negate, None)


def test_store_only_where_asked_for(builder: StreamsBuilder, node: Of) -> None:
    users = builder.table("users")
    plain, named = users.map_values(one, value=serdes.long), users.map_values(one, store="names")
    assert isinstance(node(plain), TableMapValues)
    assert node(plain).store is None
    assert node(named).store.name == "names"


def test_transform_values(builder: StreamsBuilder, node: Of) -> None:
    class Smooth(ValueTransformer):
        stores = (state_store("smoothed"),)

    made = node(builder.table("prices").transform_values(Smooth, value=serdes.double))
    assert isinstance(made, TransformValues)
    assert [store.name for store in made.stores] == ["smoothed"]
    assert (made.store, made.value) == (None, serdes.double)


def test_to_stream_and_back(builder: StreamsBuilder, node: Of) -> None:
    stream = builder.table("users").to_stream(two)
    assert isinstance(node(stream), SelectKey)
    assert isinstance(builder.build().parents(stream.name)[0], TableToStream)
    table = stream.to_table(store="again")
    assert isinstance(node(table), ToTable)
    assert table.queryable_store_name == "again"


def test_group_by(builder: StreamsBuilder, node: Of) -> None:
    grouped = builder.table("users").group_by(two, key=serdes.string, value=serdes.long)
    count, reduce = node(grouped.count()), node(grouped.reduce(two, two))
    fold = node(grouped.aggregate(0, three, three))
    assert isinstance(count, TableAggregate)
    assert (count.group, count.op, count.key, count.value) == (two, Count(), serdes.string, serdes.long)
    assert isinstance(reduce.op, Reduce)
    assert reduce.op.subtractor is two
    assert isinstance(fold.op, Fold)
    assert fold.op.subtractor is three
    assert (count.store.value, reduce.store.value, fold.store.value) == (serdes.long, serdes.long, None)


def test_suppress_until_window_closes_carries_the_window(builder: StreamsBuilder, node: Of) -> None:
    window = windows.tumbling("1 h", grace="1 min")
    counts = builder.stream("orders").group_by_key().windowed_by(window).count()
    later = counts.filter(one).map_values(one)
    made = node(later.suppress(suppressed.until_window_closes(max_bytes=100)))
    assert isinstance(made, Suppress)
    assert (made.until, made.window, made.max_bytes) == (UntilWindowCloses(), window, 100)
    assert made.when_full is WhenFull.SHUT_DOWN


def test_suppress_for_a_time(builder: StreamsBuilder, node: Of) -> None:
    made = node(builder.table("users").suppress(suppressed.until_time_limit("5 s", max_records=3)))
    assert (made.until, made.window, made.max_records) == (UntilTimeLimit(5000), None, 3)
    assert made.when_full is WhenFull.EMIT_EARLY


def test_new_key_has_no_window(builder: StreamsBuilder, node: Of) -> None:
    window = windows.tumbling("1 h")
    counts = builder.stream("orders").group_by_key().windowed_by(window).count()
    rekeyed = counts.to_stream().select_key(two).to_table()
    assert node(rekeyed.suppress(suppressed.until_time_limit("5 s"))).window is None
