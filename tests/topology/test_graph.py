"""What can be asked of the graph."""

from __future__ import annotations

import pytest
import shops

from tidemill import StreamsBuilder, Topology, TopologyError
from tidemill.topology.nodes import Filter, Merge, Sink, StreamSource


def _names(nodes: object) -> list[str]:
    return [node.name for node in nodes]  # type: ignore[attr-defined]


def test_nodes_keep_the_order_they_were_declared_in() -> None:
    assert list(shops.word_count().nodes) == [
        "stream-of-lines",
        "flat-map-values-of-lines",
        "by-word",
        "count-counts",
        "to-stream-of-counts",
        "to-word-counts",
    ]


def test_parents_children_and_ancestors() -> None:
    topology = shops.word_count()
    assert _names(topology.children("by-word")) == ["count-counts"]
    assert _names(topology.parents("count-counts")) == ["by-word"]
    assert _names(topology.ancestors("count-counts")) == [
        "stream-of-lines",
        "flat-map-values-of-lines",
        "by-word",
    ]


def test_topics_and_stores() -> None:
    topology = shops.shop()
    assert topology.source_topics == ("orders", "users", "countries")
    assert topology.sink_topics == ("big-orders",)
    assert list(topology.stores) == ["users", "global-table-of-countries", "users-by-city"]
    assert topology.store_owner("users-by-city").name == "count-users-by-city"
    assert _names(topology.global_sources) == ["global-table-of-countries"]


def test_internal_topics() -> None:
    assert shops.word_count().internal_topics("app") == ()
    builder = StreamsBuilder()
    builder.table("users", store="users", logging=True)
    assert builder.build().internal_topics("app") == ("app-users-changelog",)
    assert "app-spread-repartition" in shops.hourly().internal_topics("app")
    assert "app-rates-changelog" not in shops.processors().internal_topics("app")


def test_order_puts_parents_first_however_nodes_were_declared() -> None:
    source = StreamSource(name="in", topics=("t",))
    sink = Sink(name="out", parents=("in",), topic="copy")
    assert _names(Topology.of([sink, source]).in_order()) == ["in", "out"]


def test_cycle_is_refused() -> None:
    nodes = [
        StreamSource(name="in", topics=("t",)),
        Merge(name="a", parents=("in", "b")),
        Filter(name="b", parents=("a",), predicate=len),
    ]
    with pytest.raises(TopologyError, match="`a`, `b` wait for each other"):
        Topology.of(nodes).in_order()


def test_two_nodes_of_one_name_are_refused() -> None:
    with pytest.raises(TopologyError, match="two nodes have the name"):
        Topology.of([StreamSource(name="in", topics=("a",)), StreamSource(name="in", topics=("b",))])


def test_nodes_cannot_be_changed() -> None:
    topology = shops.word_count()
    with pytest.raises(TypeError):
        topology.nodes["x"] = topology["by-word"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        topology["by-word"].name = "x"  # type: ignore[misc]


def test_value_steps_keep_records_in_their_partition() -> None:
    assert [(s.parent, s.child) for s in shops.word_count().shuffles()] == [("by-word", "count-counts")]


def test_shared_store_holds_sub_topologies_together() -> None:
    parts = shops.processors().sub_topologies()
    assert {"in", "totals", "again", "out"} in [set(part.nodes) for part in parts]
    assert [part.nodes for part in parts if part.is_global] == [("rates",)]


def test_foreign_key_join_cuts_the_right_side_off() -> None:
    topics = [shuffle.topic for shuffle in shops.tables().shuffles()]
    assert "join-of-orders-and-users-subscription-response" in topics
