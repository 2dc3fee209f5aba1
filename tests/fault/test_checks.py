"""The oracle notices what it is there for: each kind of wrong output breaks its own invariant."""

from __future__ import annotations

import pytest

from fault.checks import Violation, check_complete, check_safety, check_whole
from fault.ledger import Entry, Ledger
from fault.workloads import GRACE_MS, TABLE_JOIN, TOTALS, WINDOW_MS, WINDOWS

pytestmark = pytest.mark.fault_sample


@pytest.fixture
def ledger() -> Ledger:
    """Three rounds, as a broker with one partition would have acknowledged them."""
    ledger = Ledger(7)
    for _ in range(3):
        for topic, record in ledger.next_round({"in", "orders", "users"}, 60):
            entries = ledger.produced[topic]
            key, value = record["key"].encode(), record["value"].encode()
            entries.append(Entry(0, len(entries), key, value, record["timestamp"]))
    return ledger


def output(rows: dict[str, list[str]]) -> list[Entry]:
    pairs = [(key, value) for key, values in rows.items() for value in values]
    return [Entry(0, n, key.encode(), value.encode(), 0) for n, (key, value) in enumerate(pairs)]


def test_right_output_is_accepted(ledger: Ledger) -> None:
    right = output(TOTALS.expected(ledger))
    check_complete(TOTALS, ledger, right)
    check_safety(TOTALS, ledger, [])


@pytest.mark.parametrize("invariant", ["I1", "I2", "I3", "I4"])
def test_wrong_output_is_told_apart(ledger: Ledger, invariant: str) -> None:
    right = output(TOTALS.expected(ledger))
    one = right[3]
    wrong = {
        "I1": right[:-1],
        "I2": [*right, one],
        "I3": [*right, Entry(0, 999, one.raw_key, b"1,2,3,4,5", 0)],
        "I4": [*right[:3], right[4], right[3], *right[5:]],
    }
    with pytest.raises(Violation, match=invariant):
        check_complete(TOTALS, ledger, wrong[invariant])


def test_windows_leave_late_records_out(ledger: Ledger) -> None:
    counted = sum(int(row.partition("=")[2]) for rows in WINDOWS.expected(ledger).values() for row in rows)
    closed = max(entry.timestamp for entry in ledger("in")) - GRACE_MS
    all_of_them = [e for e in ledger("in") if e.timestamp // WINDOW_MS * WINDOW_MS + WINDOW_MS <= closed]
    assert 0 < counted < len(all_of_them)


def test_join_must_not_go_back_to_an_older_row(ledger: Ledger) -> None:
    moving = [entry for entry in ledger("orders") if entry.key == "moving0"]
    newer, older = (f"{moving[n].value}/v{2 - n}" for n in (0, 1))
    fixed = TABLE_JOIN.expected(ledger)
    check_safety(TABLE_JOIN, ledger, output({**fixed, "moving0": [newer]}))
    with pytest.raises(Violation, match="I4"):
        check_safety(TABLE_JOIN, ledger, output({**fixed, "moving0": [newer, older]}))


def test_torn_batch_is_seen() -> None:
    entry = Entry(0, 0, b"k", b"v", 0)
    check_whole({"echo": [entry], "totals": [entry]})
    with pytest.raises(Violation, match="I5"):
        check_whole({"echo": [entry, entry], "totals": [entry]})
