"""The stores of processors: what they answer, in which order, and what they forget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidemill import serdes
from tidemill.dsl import ValueAndTimestamp, VersionedRecord
from tidemill.errors import UsageError
from tidemill.serde.windowed import Windowed

Reopened = Callable[..., Callable[[], Any]]
_TEXT = {"key": serdes.string, "value": serdes.string}
_NUMBERS = {"key": serdes.string, "value": serdes.long}


def test_key_value_store_keeps_and_deletes(reopened: Reopened) -> None:
    again = reopened(**_NUMBERS)
    store = again()
    store.put_all([("a", 1), ("b", 2)])
    assert (store.put_if_absent("a", 9), store.put_if_absent("c", 3)) == (1, None)
    assert (store.delete("b"), store.delete("z")) == (2, None)
    store = again()
    assert list(store.all()) == [("a", 1), ("c", 3)]
    assert store.approximate_num_entries() == 2


def test_scans_follow_the_bytes_of_keys(reopened: Reopened) -> None:
    again = reopened(key=serdes.long, value=serdes.string)
    store = again()
    store.put_all((number, str(number)) for number in (3, 1, 256, 2, -1))
    store = again()
    # A negative number has the highest bit set: Kafka Streams orders by bytes too.
    assert [key for key, _ in store.all()] == [1, 2, 3, 256, -1]
    assert [key for key, _ in store.range(2, 256)] == [2, 3, 256]
    assert [key for key, _ in store.reverse_range(None, 3)] == [3, 2, 1]
    assert [key for key, _ in store.reverse_all()] == [-1, 256, 3, 2, 1]


def test_scan_sees_changes_made_before_it_and_bears_those_made_during_it(reopened: Reopened) -> None:
    again = reopened(**_TEXT)
    store = again()
    store.put_all([("a", "1"), ("b", "2")])
    store = again()
    store.put("aa", "new")
    seen = []
    for key, _ in store.all():
        seen.append(key)
        store.delete("b")
        store.put("c", "3")
    assert seen == ["a", "aa"]
    assert [key for key, _ in store.all()] == ["a", "aa", "c"]


def test_prefix_scan(reopened: Reopened) -> None:
    store = reopened(**_TEXT)()
    store.put_all([("oslo/1", "a"), ("oslo/2", "b"), ("paris/1", "c")])
    assert [key for key, _ in store.prefix_scan(b"oslo/")] == ["oslo/1", "oslo/2"]
    assert list(store.prefix_scan("rome")) == []


def test_store_without_serdes_keeps_plain_values(reopened: Reopened) -> None:
    again = reopened()
    again().put("last", [1, 2.5, {"a": None}])
    assert again().get("last") == [1, 2.5, {"a": None}]
    with pytest.raises(UsageError, match="has no JSON form"):
        again().put("bytes", b"raw")


def test_null_key_is_refused(reopened: Reopened) -> None:
    with pytest.raises(UsageError, match="stores have no null keys"):
        reopened(**_TEXT)().get(None)


def test_window_store_by_key_and_time(reopened: Reopened) -> None:
    again = reopened(kind="window", retention=1000, **_NUMBERS)
    store = again()
    for key, value, start in (("b", 1, 0), ("a", 2, 0), ("a", 3, 100), ("a", 4, 200)):
        store.put(key, value, start)
    store = again()
    assert (store.fetch("a", 100), store.fetch("a", 150)) == (3, None)
    assert list(store.fetch_range("a", 0, 100)) == [(0, 2), (100, 3)]
    assert list(store.fetch_all(0, 100)) == [
        (Windowed("a", 0, None), 2),
        (Windowed("b", 0, None), 1),
        (Windowed("a", 100, None), 3),
    ]
    store.put("a", None, 0)
    assert [(each.key, each.start) for each, _ in again().all()] == [("b", 0), ("a", 100), ("a", 200)]


def test_window_store_forgets_by_its_own_time(reopened: Reopened) -> None:
    again = reopened(kind="window", retention=1000, **_NUMBERS)
    store = again()
    store.put("a", 1, 0)
    store.put("b", 2, 999)
    assert store.fetch("a", 0) == 1
    store.put("b", 3, 1000)
    assert store.fetch("a", 0) is None
    store.put("late", 4, 0)
    store = again()
    assert [each.key for each, _ in store.all()] == ["b", "b"]
    store.put("c", 5, 10_000)
    assert list(again().all()) == [(Windowed("c", 10_000, None), 5)]


def test_forgotten_windows_leave_no_state_behind() -> None:
    from tidemill import state_store
    from tidemill.engine.python.cells import Cells, DictBackend
    from tidemill.engine.python.window import CellsWindowStore

    backend = DictBackend()
    store = CellsWindowStore(state_store("s", kind="window", retention=100), Cells(backend))
    for start in range(0, 10_000, 10):
        store.put(f"key{start}", start, start)
        store.save()
    assert len(backend.data) < 50


def test_session_store(reopened: Reopened) -> None:
    again = reopened(kind="session", retention=1000, **_NUMBERS)
    store = again()
    store.put(Windowed("a", 0, 50), 1)
    store.put(Windowed("a", 100, 300), 2)
    store.put(Windowed("b", 10, 20), 3)
    store = again()
    assert store.fetch_session("a", 0, 50) == 1
    assert list(store.find_sessions("a", 60, 400)) == [(Windowed("a", 100, 300), 2)]
    assert list(store.find_sessions("a", 50, 99)) == [(Windowed("a", 0, 50), 1)]
    store.remove(Windowed("a", 0, 50))
    store.put(Windowed("c", 1000, 1020), 4)
    assert list(again().all()) == [(Windowed("a", 100, 300), 2), (Windowed("c", 1000, 1020), 4)]
    assert list(again().fetch("a")) == [(Windowed("a", 100, 300), 2)]


def test_timed_stores_are_scanned_both_ways_and_by_ranges_of_keys(reopened: Reopened) -> None:
    store = reopened(kind="window", retention=1000, **_NUMBERS)()
    for key, value, start in (("b", 1, 0), ("a", 2, 0), ("a", 3, 100), ("c", 4, 200)):
        store.put(key, value, start)
    assert list(store.backward_fetch_range("a", 0, 100)) == [(100, 3), (0, 2)]
    assert [value for _, value in store.fetch_keys("a", "b", 0, 200)] == [2, 1, 3]
    assert [value for _, value in store.backward_fetch_keys("b", None, 0, 200)] == [4, 1]
    assert [value for _, value in store.backward_fetch_all(0, 100)] == [3, 1, 2]
    assert [value for _, value in store.backward_all()] == [4, 3, 1, 2]
    store = reopened(kind="session", retention=1000, **_NUMBERS)()
    for key, start, end, value in (("a", 0, 50, 1), ("a", 100, 300, 2), ("b", 10, 20, 3), ("c", 90, 100, 4)):
        store.put(Windowed(key, start, end), value)
    assert [value for _, value in store.backward_fetch("a")] == [2, 1]
    assert [value for _, value in store.fetch_keys("a", "b")] == [3, 1, 2]
    assert [value for _, value in store.backward_fetch_keys("b", None)] == [4, 3]
    assert [value for _, value in store.backward_find_sessions("a", 0, 400)] == [2, 1]
    assert list(store.find_sessions_by_end(50, 100)) == [
        (Windowed("a", 0, 50), 1),
        (Windowed("c", 90, 100), 4),
    ]


def test_timestamped_store_keeps_times_and_headers(reopened: Reopened) -> None:
    again = reopened(timestamped=True, **_NUMBERS)
    headers = (("trace", b"1"), ("empty", None))
    again().put_all([("a", ValueAndTimestamp(1, 10)), ("b", ValueAndTimestamp(2, -5, headers))])
    store = again()
    assert store.get("a") == ValueAndTimestamp(1, 10)
    assert list(store.all())[1] == ("b", ValueAndTimestamp(2, -5, headers))
    store.put("a", ValueAndTimestamp(None, 11))
    assert store.get("a") is None
    with pytest.raises(UsageError, match="holds ValueAndTimestamp, not int"):
        store.put("a", 3)
    windowed = reopened(kind="window", retention=1000, timestamped=True, **_NUMBERS)()
    windowed.put("a", ValueAndTimestamp(1, 10), 0)
    assert windowed.fetch("a", 0) == ValueAndTimestamp(1, 10)


def test_versioned_store_answers_as_of_a_time(reopened: Reopened) -> None:
    again = reopened(kind="versioned", retention=1000, **_TEXT)
    store = again()
    assert (store.put("k", "one", 100), store.put("k", "three", 300)) == (None, None)
    assert store.put("k", "two", 200) == 300
    store = again()
    assert store.get("k") == VersionedRecord("three", 300)
    assert store.get("k", 250) == VersionedRecord("two", 200, 300)
    assert store.get("k", 99) is None
    assert store.delete("k", 250) == VersionedRecord("two", 200, 300)
    assert (store.get("k", 260), store.get("k", 300)) == (None, VersionedRecord("three", 300))


def test_versioned_store_forgets_history_but_not_the_latest(reopened: Reopened) -> None:
    again = reopened(kind="versioned", retention=1000, **_TEXT)
    store = again()
    store.put("old", "kept", 0)
    store.put("k", "one", 0)
    store.put("k", "two", 100)
    store.put("k", "three", 5000)
    assert store.put("k", "too late", 3999) == 3999
    store = again()
    assert store.get("old") == VersionedRecord("kept", 0)
    assert (store.get("k", 50), store.get("k", 4500)) == (None, VersionedRecord("two", 100, 5000))


def test_store_of_another_step_is_only_read(reopened: Reopened) -> None:
    from tidemill.engine.python.stores import ReadOnly

    store = reopened(**_NUMBERS)()
    store.put("a", 1)
    assert ReadOnly(store).get("a") == 1
    with pytest.raises(UsageError, match="belongs to another step"):
        ReadOnly(store).put("a", 2)
