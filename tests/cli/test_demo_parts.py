"""The parts of the demo: the examples it knows, its picture, its check, and its words."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from tidemill import Windowed, serdes
from tidemill.cli.demo_check import RollingSumCheck
from tidemill.cli.demo_examples import example, examples, feeds
from tidemill.cli.demo_results import Row
from tidemill.cli.demo_view import View, bars, shape
from tidemill.errors import UsageError
from tidemill.kafka.records import Record


@pytest.mark.parametrize("name", list(examples()))
def test_every_example_can_be_fed_and_read(name: str) -> None:
    topology = example(name).build()
    fed = {schema.topic for schema in feeds(topology, None)}
    assert fed == set(topology.source_topics) - set(topology.sink_topics)
    assert all(sink.topic and sink.key and sink.value for sink in topology.sinks)
    assert {schema.rate for schema in feeds(topology, 77.0)} - {77.0} == {
        schema.rate
        for schema in feeds(topology, None)
        for source in topology.sources
        if hasattr(source, "store") and schema.topic in source.topics
    }


def test_settings_of_an_example_come_with_it() -> None:
    assert example("event-sourcing").load()[1] == {"statestore.cache.max.bytes": 0}
    assert example("fraud").load()[1] == {}


def test_names_are_forgiving_and_mistakes_are_told() -> None:
    assert example("rolling_sum").name == "rolling-sum"
    with pytest.raises(UsageError, match="did you mean `wordcount`"):
        example("wordcuont")
    with pytest.raises(UsageError, match="there are: average-of-ten, "):
        example("xyz")
    with pytest.raises(UsageError, match=r"run it: python .*plain_clients/app\.py"):
        example("plain-clients")


def test_list(tidemill: Callable[..., Any]) -> None:
    listed = tidemill("demo", "--list")
    assert listed.code == 0
    assert [line.split("\t")[0] for line in listed.lines] == list(examples())
    assert tidemill("demo", "nonsense").code == 2


def test_shape_tells_every_way_through_a_topology() -> None:
    assert shape(example("fraud").build()).splitlines() == [
        "(payments) → join → filter",
        "(cards) → join",
        "filter → (suspicions)",
        "filter → aggregate-suspicions-per-minute [sliding 1 min, grace 10 s] → filter → (alerts)",
    ]
    assert shape(example("event-sourcing").build()).splitlines() == [
        "(commands) → aggregate-accounts",
        "aggregate-accounts → (events)",
        "aggregate-accounts → aggregate-balances → (balances)",
    ]


def test_view_shows_the_newest_row_of_each_key() -> None:
    from rich.console import Console

    view = View("title", "host:1", example("rolling-sum").build(), ["a command"])
    for second, total in enumerate((10, 20, 40)):
        key = Windowed("blue", second * 1000, second * 1000 + 10_000)
        view.take(Row("sums", key, total, 1_000, is_latest=True))
        view.update({"last_batch_id": second, "last_batch_ms": 50, "lag": 3}, second, 2 * second)
    out = io.StringIO()
    Console(file=out, width=100).print(view.render())
    text = out.getvalue()
    for word in (
        "title",
        "host:1",
        "lag 3",
        "blue  40",
        "▂▄█",
        "a command",
        "(numbers) → aggregate-rolling-sum",
    ):
        assert word in text
    assert "blue  20" not in text


def test_bars() -> None:
    assert bars([0, 50, 100]) == " ▄█"
    assert bars([]) == ""
    assert bars([0, 0]) == "  "


def test_rows_as_text_and_data() -> None:
    windowed = Row("t", Windowed("a", 0, 10), {"n": 1.5, "s": "x", "l": [1]}, 5, is_latest=True)
    assert (windowed.name, windowed.place, windowed.text) == ("a", "a@0/10", "n 1.5, s x, l [1]")
    assert windowed.number == 1.5
    assert windowed.data()["end"] == 10
    deleted = Row("t", "a", None, 5, is_latest=True)
    assert (deleted.text, deleted.number) == ("deleted", None)


def test_check_finds_a_wrong_sum_and_a_missing_window() -> None:
    sent = [
        Record(serdes.long.encode(n), b"a", timestamp=at) for n, at in ((1, 20_000), (2, 25_000), (4, 31_000))
    ]
    check = RollingSumCheck(10_000)
    for at, total in ((20_000, 1), (25_000, 3)):
        check.take(Row("sums", Windowed("a", at - 10_000, at), total, at, is_latest=True))
    assert not check.is_complete(sent)
    check.take(Row("sums", Windowed("a", 21_000, 31_000), 7, 31_000, is_latest=True))
    assert check.is_complete(sent)
    assert check.wrong(sent) == [("a", 21_000)]
    check.take(Row("sums", Windowed("a", 21_000, 31_000), 6, 31_000, is_latest=True))
    assert check.wrong(sent) == []
