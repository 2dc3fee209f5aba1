"""The oracle itself: golden data, recorded answers and the library agree, and the documented joins hold."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.cases import Case
from conformance.golden import golden_entries, golden_failed, golden_steps
from conformance.recorded import StaleError, recorded_answer
from conformance.scenarios import CASES
from oracle.compare import compare, compare_answers, compare_final, final_table
from oracle.driver import run_oracle
from oracle.spec import Answer, Input, Record, Scenario
from oracle.written import from_json, to_json

_BY_NAME = {case.name: case for case in CASES}
_IN_GOLDEN = [case for case in CASES if case.golden is not None]


def _of(cases: Sequence[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def test_scenario_names_are_unique() -> None:
    assert len(_BY_NAME) == len(CASES)


def test_every_golden_entry_has_one_scenario() -> None:
    assert sorted(case.golden or "" for case in _IN_GOLDEN) == sorted(golden_entries())


@_of(_IN_GOLDEN)
def test_recorded_answer_is_the_golden_one(case: Case) -> None:
    answer = recorded_answer(case.scenario)
    difference = compare(golden_steps(case), answer.steps, case.scenario)
    assert difference is None, difference
    assert golden_failed(case) == (answer.failure is not None)


@_of(CASES)
def test_library_still_says_what_is_recorded(case: Case) -> None:
    recorded, answer = recorded_answer(case.scenario), run_oracle(case.scenario)
    difference = compare_answers(recorded, answer, case.scenario)
    assert difference is None, difference
    assert answer.dropped == recorded.dropped


@_of(CASES)
def test_scenario_survives_being_written_down(case: Case) -> None:
    assert from_json(to_json(case.scenario)) == case.scenario


def test_changed_scenario_has_no_recorded_answer() -> None:
    scenario = CASES[0].scenario
    changed = Scenario(scenario.name, scenario.sinks, scenario.steps[:-1], scenario.config)
    with pytest.raises(StaleError, match=scenario.name):
        recorded_answer(changed)


# What the documentation of Kafka Streams says about joins; where it is wrong, what the library does.

_STREAM_STREAM = """
    3 L A        |             |              |
    4 R a        | A,a         | A,a          | A,a
    5 L B        | B,a         | B,a          | B,a
    6 R b        | A,b B,b     | A,b B,b      | A,b B,b
    9 L C        | C,a C,b     | C,a C,b      | C,a C,b
    10 R c       | A,c B,c C,c | A,c B,c C,c  | A,c B,c C,c
    14 R d       | A,d B,d C,d | A,d B,d C,d  | A,d B,d C,d
    15 L D       | D,a D,b D,c D,d | D,a D,b D,c D,d | D,a D,b D,c D,d
    40 L E       |             |              |
    60 L F       |             |              |
    80 R f       |             | E,null       | E,null
    100 L G      |             | F,null       | F,null
"""
_TABLE_TABLE = """
    3 L A        |             | A,null       | A,null
    4 R a        | A,a         | A,a          | A,a
    5 L B        | B,a         | B,a          | B,a
    6 R b        | B,b         | B,b          | B,b
    7 L null     | null        | null         | null,b
    8 R null     |             |              | null
    9 L C        |             | C,null       | C,null
    10 R c       | C,c         | C,c          | C,c
    11 R null    | null        | C,null       | C,null
    12 L null    |             | null         | null
    14 R d       |             |              | null,d
    15 L D       | D,d         | D,d          | D,d
"""
_STREAM_TABLE = """
    3 L A        |             | A,null
    5 L B        | B,a         | B,a
    9 L C        |             | C,null
    15 L D       | D,d         | D,d
"""


def _documented(table: str, column: int) -> dict[int, list[str]]:
    """The output by time, for the rows that have some."""
    rows = {}
    for line in table.strip().splitlines():
        record, *outputs = line.split("|")
        rows[int(record.split()[0])] = outputs[column].split()
    return {time: output for time, output in rows.items() if output}


_KINDS = ("inner", "left", "outer")


@pytest.mark.parametrize(
    ("family", "kind", "table", "unit"),
    [
        *(("stream_join", kind, _STREAM_STREAM, 1000) for kind in _KINDS),
        *(("table_join", kind, _TABLE_TABLE, 1) for kind in _KINDS),
        *(("stream_table", kind, _STREAM_TABLE, 1) for kind in _KINDS[:2]),
    ],
    ids=lambda value: value if value in _KINDS or str(value).isidentifier() else "",
)
def test_join_gives_what_the_documentation_shows(family: str, kind: str, table: str, unit: int) -> None:
    scenario = _BY_NAME[f"{family}_{kind}_as_documented"].scenario
    said = {}
    for step, output in zip(scenario.steps, run_oracle(scenario).steps, strict=True):
        assert isinstance(step, Input)
        if output:
            said[step.ts // unit] = [(record.value or "null").strip("[]") for record in output]
    assert said == _documented(table, _KINDS.index(kind))


@pytest.mark.parametrize(("column", "kind"), [(0, "inner"), (1, "left")])
def test_foreign_key_join_gives_what_the_documentation_shows(column: int, kind: str) -> None:
    # The documentation shows (k, 1, foo); the joiner here writes the foreign key and the right value.
    documented = [
        ([], ["k=[1,null]"]),
        (["k=[1,foo]"], ["k=[1,foo]"]),
        (["k=null"], ["k=[2,null]"]),
        (["k=null"], ["k=[3,null]"]),
        (["k=[3,bar]"], ["k=[3,bar]"]),
        (["k=null"], ["k=null"]),
        (["k=[1,foo]"], ["k=[1,foo]"]),
        ([], ["q=[10,null]"]),
        ([], ["r=[10,null]"]),
        (["q=[10,baz]", "r=[10,baz]"], ["q=[10,baz]", "r=[10,baz]"]),
    ]
    answer = run_oracle(_BY_NAME[f"foreign_key_{kind}"].scenario)
    said = [[f"{record.key}={record.value or 'null'}" for record in step] for step in answer.steps]
    assert said[: len(documented)] == [row[column] for row in documented]


def _records(*values: str | None) -> list[Record]:
    return [Record("out", "a", value, 1) for value in values]


def test_comparison_shows_the_step_that_differs() -> None:
    scenario = CASES[0].scenario
    answer = run_oracle(scenario)
    changed = Answer((*answer.steps[:1], tuple(_records("other")), *answer.steps[2:]))
    difference = compare(answer.steps, changed.steps, scenario)
    assert difference is not None
    assert [line for line in difference.splitlines() if line.startswith(">")] == [">   1 in b = 20 @3"]
    assert "+ out a = other @1" in difference


def test_comparison_wants_the_order_within_a_step() -> None:
    assert compare([_records("x", "y")], [_records("x", "y")]) is None
    assert compare([_records("x", "y")], [_records("y", "x")]) is not None
    assert compare([_records("x"), _records("y")], [_records("x", "y"), []]) is not None


def test_final_table_forgets_updates_and_deleted_rows() -> None:
    assert final_table([_records("x", None, "y")]) == {("out", "a"): ("y", 1)}
    assert compare_final([_records("x"), _records("y")], [_records("y")]) is None
    assert compare_final([_records("x")], [_records("x", None)]) == (
        "the final tables differ\n  out a: expected x @1, actual no row"
    )
