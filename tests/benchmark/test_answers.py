"""The check of a benchmark: answers in a real topic against the right ones, which are kept in files."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from bench import reference
from bench.answers import Output, RightAnswers, given
from bench.broker import Broker
from bench.data import Record
from bench.workloads import WORKLOADS
from tidemill.kafka.embedded import Cluster

Write = Callable[..., Output]


@pytest.fixture
def write(kafka: Cluster, tmp_path: Path) -> Write:
    def written(workload: str, form: str, rows: Iterable[Record], size: int = 0) -> Output:
        topic = f"answers-{uuid.uuid4().hex[:8]}"
        with Broker(tmp_path, kafka) as broker:
            broker.create(topic, 3)
            broker.produce(topic, 3, rows)
            return Output(broker.address, topic, 3, workload, form, size)

    return written


def windowed(finals: dict[str, object]) -> list[Record]:
    rows = []
    for name, value in finals.items():
        key, _, start = name.partition("@")
        rows.append(
            Record(key.encode() + int(start).to_bytes(8, "big"), int(str(value)).to_bytes(8, "big"), 1)
        )
    return rows


def test_only_the_right_answer_passes(write: Write, tmp_path: Path) -> None:
    right = RightAnswers(tmp_path).of("W2", WORKLOADS["W2"].inputs(2_000, 50))
    rows = windowed(right.finals)
    earlier = [row._replace(value=bytes(8)) for row in rows]
    assert given(write("W2", "binary", earlier + rows)).difference(right) is None
    wrong = [*rows[:-1], rows[-1]._replace(value=bytes(8))]
    assert "0 are missing, 1 wrong, 0 too many" in str(given(write("W2", "binary", wrong)).difference(right))
    assert "1 are missing" in str(given(write("W2", "binary", rows[1:])).difference(right))


def test_a_row_too_many_or_another_one_is_found(write: Write, tmp_path: Path) -> None:
    inputs = WORKLOADS["W0"].inputs(1_000, 50)
    right = RightAnswers(tmp_path).of("W0", inputs)
    rows = [
        Record(row.key, json.dumps({**event, "total": event["amount"] * 3}).encode(), 1)
        for row in inputs["events"].rows()
        if (event := json.loads(row.value))["amount"] >= reference.LARGE
    ]
    assert given(write("W0", "json", rows, size=1 << 20)).difference(right) is None  # in processes
    assert "expected" in str(given(write("W0", "json", [*rows, rows[0]])).difference(right))
    twice = [*rows[1:], rows[1]]
    assert given(write("W0", "json", twice)).difference(right) == (
        "the number of rows is right, their content is not"
    )


def test_a_change_that_is_taken_back_does_not_count(write: Write) -> None:
    rows = [
        Record(None, json.dumps({"k": "a", "n": n, "diff": diff, "time": time}).encode(), 1, partition)
        for n, diff, time, partition in (
            (1, 1, 2, 0),
            (2, 1, 4, 2),
            (1, -1, 4, 1),
            (5, 1, 4, 0),
            (5, -1, 6, 1),
        )
    ]
    assert given(write("W1", "json", rows[:3])).finals == {"a": 2}
    assert given(write("W1", "json", [rows[0], rows[-1]])).finals == {}


def test_right_answers_are_kept_until_their_code_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = WORKLOADS["W4"].inputs(500, 50)
    right = RightAnswers(tmp_path).of("W4", inputs)

    def computed(*_: object) -> reference.Answer:
        raise AssertionError("computed again")

    monkeypatch.setattr("bench.answers.expected", computed)
    assert RightAnswers(tmp_path).of("W4", inputs) == right
    monkeypatch.setattr("bench.answers._code", lambda: "other")
    with pytest.raises(AssertionError, match="computed again"):
        RightAnswers(tmp_path).of("W4", inputs)
