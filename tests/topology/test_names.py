"""Names: allowed ones, and derived ones that stay when a line is inserted."""

from __future__ import annotations

import pytest

from tidemill import StreamsBuilder, TopologyError, windows
from tidemill.topology.names import changelog_topic, derived, problem_with, repartition_topic, words


@pytest.mark.parametrize("name", ["a", "A.b_c-1", "x" * 249])
def test_allowed(name: str) -> None:
    assert problem_with(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "ä", "x" * 250])
def test_not_allowed(name: str) -> None:
    assert problem_with(name) is not None


def test_derived_names() -> None:
    assert derived("group_by", ["orders"]) == "group-by-of-orders"
    assert words("RunningTotals") == "running-totals"


def test_internal_topics_are_named_as_in_kafka_streams() -> None:
    assert changelog_topic("app", "totals") == "app-totals-changelog"
    assert repartition_topic("app", "by-city") == "app-by-city-repartition"


def _stateful(*, inserted: bool) -> set[str]:
    builder = StreamsBuilder()
    if inserted:
        builder.stream("returns").filter(lambda value: value).group_by_key().count()
    orders = builder.stream("orders")
    if inserted:
        orders = orders.map_values(lambda value: value).filter(lambda value: value)
    orders.group_by_key().windowed_by(windows.tumbling("1 h")).count().to_stream().to("hourly")
    orders.join(builder.table("users"), lambda order, user: user).group_by_key().count()
    topology = builder.build()
    return {node.name for node in topology if node.stateful} | set(topology.stores)


def test_inserting_lines_renames_no_state() -> None:
    before = _stateful(inserted=False)
    assert before == {
        "count-of-orders-tumbling",
        "table-of-users",
        "join-of-orders-and-users",
        "count-of-join-of-orders-and-users",
    }
    assert before < _stateful(inserted=True)


def test_stateless_steps_are_numbered() -> None:
    orders = StreamsBuilder().stream("orders")
    names = [orders.filter(lambda value: value).name for _ in range(3)]
    assert names == ["filter-of-orders", "filter-of-orders-2", "filter-of-orders-3"]


def test_given_name_becomes_the_word_of_what_follows() -> None:
    orders = StreamsBuilder().stream("orders")
    big = orders.filter(lambda value: value, name="big-orders")
    assert big.group_by_key().count().name == "count-of-big-orders"


def test_clash_of_state_is_refused_instead_of_numbered() -> None:
    grouped = StreamsBuilder().stream("orders").group_by_key()
    grouped.count()
    with pytest.raises(TopologyError, match="count-of-orders"):
        grouped.count()
    assert grouped.count(store="again").name == "count-again"
