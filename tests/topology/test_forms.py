"""A topology as text, as data and as a chart: golden files."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import shops

from tidemill import StreamsBuilder, Topology

Golden = Callable[[str, str], None]
each = pytest.mark.parametrize("name", shops.ALL)


@each
def test_description(name: str, golden: Golden) -> None:
    golden(f"{name}.describe.txt", shops.ALL[name]().describe())


@each
def test_plan(name: str, golden: Golden) -> None:
    golden(f"{name}.plan.json", json.dumps(shops.ALL[name]().to_json(), indent=1) + "\n")


@each
def test_chart(name: str, golden: Golden) -> None:
    golden(f"{name}.mmd", shops.ALL[name]().to_mermaid())


@each
def test_building_twice_gives_equal_topologies(name: str) -> None:
    assert shops.ALL[name]() == shops.ALL[name]()


def test_plan_names_the_users_line_on_request() -> None:
    builder = StreamsBuilder()
    builder.stream("orders").to("copy")
    node = builder.build().to_json(places=True)["nodes"][0]
    assert node["text"] == 'builder.stream("orders").to("copy")'
    assert node["place"].startswith(__file__)


def test_plan_shows_literals_and_functions_without_calling_them() -> None:
    builder = StreamsBuilder()
    grouped = builder.stream("n").group_by_key()
    grouped.aggregate(0, lambda key, value, total: total + value, store="a")
    grouped.aggregate(lambda: 1 / 0, lambda key, value, total: total, store="b")
    first, second = (node["op"]["init"] for node in builder.build().to_json()["nodes"][1:])
    assert first == 0
    assert second == {"function": "lambda", "arguments": []}


def test_description_of_a_pattern() -> None:
    import re

    builder = StreamsBuilder()
    builder.stream(re.compile("eu-.*")).to("all")
    assert "Source: stream-of-eu- (topics: eu-.*)" in builder.build().describe()


def test_empty_topology_describes_itself() -> None:
    assert Topology.of([]).describe() == "Topologies:"
