"""The list of features is complete, every test it names exists, and the page says what the list says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from conformance.parity import GROUPS, ROWS, Status
from conformance.parity.proof import exists

ROOT = Path(__file__).parents[2]
FEATURES = 359


def test_every_feature_has_one_row() -> None:
    assert sorted(row.number for row in ROWS) == list(range(1, FEATURES + 1))


def test_groups_follow_the_alphabet_and_keep_their_rows_together() -> None:
    assert "".join(group.letter for group in GROUPS) == "ABCDEFGHIJKLMNOPQRS"
    assert [row.number for row in ROWS] == sorted(row.number for row in ROWS)


def test_named_tests_exist() -> None:
    assert [(row.number, test) for row in ROWS for test in row.tests if not exists(test)] == []


def test_what_passed_names_the_tests_that_prove_it() -> None:
    assert [row.number for row in ROWS if row.status is Status.PASSED and not row.tests] == []


def test_what_was_decided_or_is_open_has_a_reason() -> None:
    assert [row.number for row in ROWS if row.status is not Status.PASSED and not row.reason] == []


def test_page_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("conformance_page", ROOT / "tools" / "conformance_page.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "run `python tools/conformance_page.py`"
