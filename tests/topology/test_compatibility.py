"""Two plans: which stores are kept, which need a reset, what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tidemill import StreamsBuilder, serdes, windows
from tidemill.errors import UsageError
from tidemill.topology.compatibility import Verdict, compare

Change = Callable[[StreamsBuilder], object]


def _plan(declare: Change) -> dict[str, Any]:
    builder = StreamsBuilder()
    declare(builder)
    return builder.build().to_json()


def _orders(builder: StreamsBuilder, topic: str = "orders") -> Any:
    return builder.stream(topic, key=serdes.string, value=serdes.long).group_by_key()


def _count(builder: StreamsBuilder) -> object:
    return _orders(builder).count(store="totals")


def _tumbling(size: str, grace: str = "0 s") -> Change:
    return lambda builder: (
        _orders(builder).windowed_by(windows.tumbling(size, grace=grace)).count(store="totals")
    )


KEPT: dict[str, tuple[Change, Change, str]] = {
    "nothing": (_count, _count, "nothing changed"),
    "caching": (_count, lambda b: _orders(b).count(store="totals", caching=False), "caching is False now"),
    "step name": (_count, lambda b: _orders(b).count(store="totals", name="other"), "called `other` now"),
    "another filter": (
        _count,
        lambda b: (
            b.stream("orders", key=serdes.string).filter(lambda v: v).group_by_key().count(store="totals")
        ),
        "nothing changed",
    ),
    "grace": (_tumbling("1 h"), _tumbling("1 h", "5 min"), "grace is 300000 ms now"),
    "topic": (_count, lambda b: _orders(b, "sales").count(store="totals"), "fed by sales now"),
    "serde left open": (
        _count,
        lambda b: b.stream("orders").group_by_key().count(store="totals"),
        "serde of its keys is left to their type now",
    ),
}

RESET: dict[str, tuple[Change, Change, str]] = {
    "keys": (
        _count,
        lambda b: b.stream("orders", key=serdes.long).group_by_key().count(store="totals"),
        r"keys changed from string \(string\) to long \(bigint\)",
    ),
    "operation": (
        _count,
        lambda b: _orders(b).reduce(lambda x, y: x, store="totals"),
        "operation changed from Count to Reduce",
    ),
    "window size": (_tumbling("1 h"), _tumbling("2 h"), "windows changed from TimeWindows"),
    "window kind": (
        _tumbling("1 h"),
        lambda b: _orders(b).windowed_by(windows.session("1 h")).count(store="totals"),
        "kind changed from window to session",
    ),
    "windows gone": (_tumbling("1 h"), _count, "kind changed from window to key-value"),
    "owner": (_count, lambda b: b.table("orders", store="totals"), "kept by a TableSource now"),
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    _expect(*KEPT[name][:2], Verdict.KEPT, KEPT[name][2])


@pytest.mark.parametrize("name", RESET)
def test_needs_reset(name: str) -> None:
    _expect(*RESET[name][:2], Verdict.RESET, RESET[name][2])


def test_silent_rename_is_refused() -> None:
    answer = compare(_plan(_count), _plan(lambda b: _orders(b).count(store="sums")))
    assert [(v.store, v.verdict) for v in answer.stores] == [
        ("sums", Verdict.REFUSED),
        ("totals", Verdict.DROPPED),
    ]
    assert not answer.may_go_on


def test_new_and_dropped_stores_are_fine() -> None:
    def other(builder: StreamsBuilder) -> object:
        return builder.table("users", store="users")

    answer = compare(_plan(_count), _plan(other))
    assert [v.verdict for v in answer.stores] == [Verdict.NEW, Verdict.DROPPED]
    assert answer.may_go_on


def test_plan_without_stores() -> None:
    plan = _plan(lambda builder: builder.stream("a").to("b"))
    assert str(compare(plan, plan)) == "no stores"


def test_plan_of_a_newer_version_is_refused() -> None:
    plan = _plan(_count)
    with pytest.raises(UsageError, match="version 99"):
        compare({**plan, "version": 99}, plan)


def _expect(before: Change, after: Change, verdict: Verdict, reason: str) -> None:
    (answer,) = compare(_plan(before), _plan(after)).stores
    assert answer.verdict is verdict
    assert re.search(reason, answer.reason)
