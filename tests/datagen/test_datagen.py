"""Made-up records: reproducible, distributed as said, out of order as far as said, into files and topics."""

from __future__ import annotations

import doctest
import importlib
import itertools
import json
import pkgutil
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tidemill.datagen
from tidemill.cli.main import run
from tidemill.datagen import READY, Schema, load_schema, make
from tidemill.datagen.fields import Moment, field_of
from tidemill.datagen.schema import STRUCTS
from tidemill.errors import UsageError
from tidemill.kafka.records import Format, Record, decode_number

START = 1_767_225_600_000


def records(*schemas: Schema, count: int = 200, seed: str = "7", **options: Any) -> list[Record]:
    return [made.record for made in itertools.islice(make(schemas, seed=seed, start=START, **options), count)]


def drawn(text: str, count: int = 2_000) -> list[Any]:
    moment = Moment(random.Random(1))
    draw = field_of(text)
    found = []
    for moment.index in range(count):
        found.append(draw(moment))
    return found


@pytest.mark.parametrize("name", READY)
def test_same_seed_makes_the_same_records(name: str) -> None:
    first = records(READY[name])
    assert first == records(READY[name])
    if name != "colours":  # nothing of it is left to chance
        assert first != records(READY[name], seed="8")
    assert {record.topic for record in first} == {name}


@pytest.mark.parametrize("name", READY)
def test_ready_sets_write_what_they_say(name: str) -> None:
    schema = READY[name]
    for record in records(schema):
        assert record.value
        assert (record.key is None) == (schema.key is None)
        if schema.format in STRUCTS and not schema.broken:
            assert set(json.loads(record.value)) == set(schema.fields)
        elif schema.format not in STRUCTS and schema.format != "string":
            assert decode_number(record.value, Format(schema.format.value)) is not None


def test_values_are_known_forever() -> None:
    """A record of a seed never changes: files and expectations of others hang on it."""
    first, second = records(READY["numbers"], count=2)
    assert (first.key, int.from_bytes(first.value or b""), first.timestamp) == (b"green", 89, START - 32)
    assert (second.key, int.from_bytes(second.value or b""), second.timestamp) == (b"green", 62, START + 23)


def test_distributions() -> None:
    assert set(drawn("uniform(1, 6)")) == set(range(1, 7))
    assert all(0.5 <= value <= 1.5 and round(value, 1) == value for value in drawn("uniform(0.5, 1.5, 1)"))
    assert abs(sum(drawn("normal(50, 10)")) / 2_000 - 50) < 1
    assert abs(sorted(drawn("lognormal(40, 0.6)"))[1_000] - 40) < 3
    assert abs(sum(drawn("exponential(8)")) / 2_000 - 8) < 0.7
    assert abs(Counter(drawn("weighted(ok:9, bad:1)"))["bad"] - 200) < 40
    assert abs(sum(drawn("chance(0.25)")) - 500) < 60
    ranks = Counter(drawn("zipf(u1..u5)"))
    assert ranks["u1"] > 1.7 * ranks["u2"] > 2 * ranks["u4"] > 0
    assert drawn("cycle(a, b)", 3) == ["a", "b", "a"]
    assert drawn("sequence(o9)", 2) == ["o9", "o10"]
    assert drawn("sequence(5)", 2) == [5, 6]
    assert drawn('choice("a, b")', 1) == ["a, b"]
    assert all(2 <= len(line.split()) <= 3 for line in drawn("words(2, 3)", 50))
    assert drawn("plain", 1) == ["plain"]


def test_each_key_walks_its_own_way() -> None:
    schema = Schema(topic="t", key="cycle(a, b)", fields={"at": "walk(100, 1)"})
    values = [(record.key, json.loads(record.value or b"")["at"]) for record in records(schema)]
    for key in (b"a", b"b"):
        own = [value for name, value in values if name == key]
        assert all(abs(after - before) < 6 for before, after in itertools.pairwise(own))
        assert len(set(own)) > 50


def test_times_follow_the_rate_and_lie_back_as_far_as_said() -> None:
    late = Schema(topic="t", fields={"n": "sequence(0)"}, rate=100, out_of_order=500)
    times = [record.timestamp or 0 for record in records(late)]
    behind = [START + index * 10 - time for index, time in enumerate(times)]
    assert min(behind) >= 0
    assert 450 < max(behind) < 500
    assert sorted(times) != times
    even = [record.timestamp for record in records(Schema(topic="t", fields={"n": "1"}, rate=100), count=3)]
    assert even == [START, START + 10, START + 20]


def test_sets_come_together_in_time() -> None:
    both = records(READY["orders"], READY["customers"], count=30)
    assert Counter(record.topic for record in both) == {"orders": 20, "customers": 10}
    assert [record.timestamp for record in both] == sorted(record.timestamp or 0 for record in both)


def test_number_of_keys() -> None:
    assert len({record.key for record in records(READY["clicks"], keys=3)}) == 3
    assert len({record.key for record in records(READY["customers"], keys=40)}) == 40
    with pytest.raises(UsageError, match="3 keys, 4 were asked for"):
        records(READY["numbers"], keys=4)


def test_broken_values_do_not_parse() -> None:
    bad = 0
    for record in records(READY["raw_data"], count=1_000):
        try:
            json.loads(record.value or b"")
        except ValueError:
            bad += 1
    assert 70 < bad < 130


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gauss(1, 2)", "there is no distribution `gauss`"),
        ("uniform(1)", r"write uniform\(low, high"),
        ("normal(a, b)", "`normal\\(a, b\\)` is not understood"),
        ("choice()", "it has no values"),
    ],
)
def test_wrong_fields_are_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        field_of(text)


def test_schema_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "trips.toml"
    file.write_text(
        'key = "choice(t1..t3)"\nrate = 2\nout_of_order = "3 s"\nformat = "csv"\n'
        '[fields]\nkm = "uniform(1, 9)"\nnote = "a, b"\n'
    )
    schema = load_schema(file)
    assert (schema.topic, schema.out_of_order) == ("trips", 3_000)
    value = records(schema, count=1)[0].value or b""
    assert value.split(b",", 1)[1] == b'"a, b"'
    file.write_text("speed = 3\n[fields]\nkm = 1\n")
    with pytest.raises(UsageError, match="a schema has no `speed`"):
        load_schema(file)


@pytest.mark.parametrize("name", [m.name for m in pkgutil.iter_modules(tidemill.datagen.__path__)])
def test_examples_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"tidemill.datagen.{name}")).failed == 0


def test_into_a_file_byte_by_byte_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def written(name: str, *more: str) -> str:
        file = tmp_path / name
        words = ["datagen", "payments", "numbers", "-o", str(file), "-c", "50", *more]
        assert run([*words, "--start", "2026-01-01T00:00:00Z"]) == 0
        return file.read_text()

    first = written("a", "--seed", "x")
    assert first == written("b", "--seed", "x")
    assert first != written("c")  # a seed of its own, which it tells
    told = capsys.readouterr().err.splitlines()[-1].rpartition(" ")[2]
    assert written("d", "--seed", told) == (tmp_path / "c").read_text()
    lines = [json.loads(line) for line in first.splitlines()]
    assert {line["topic"] for line in lines} == {"payments", "numbers"}
    assert all(isinstance(line["value"], int) for line in lines if line["topic"] == "numbers")


def test_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["datagen", "nothing"]) == 2
    assert "there is no ready set `nothing`" in capsys.readouterr().err
    assert run(["datagen"]) == 2
    assert run(["datagen", "orders", "customers", "--topic", "x", "-o", "-"]) == 2


def test_list_shows_every_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["datagen", "--list", "-O", "json"]) == 0
    assert [row["set"] for row in json.loads(capsys.readouterr().out)] == list(READY)


def test_into_topics_at_a_rate(kafka: Any, topic: Any, capsys: pytest.CaptureFixture[str]) -> None:
    name = topic("made")
    server = ["-b", kafka.bootstrap_servers]
    words = ["datagen", "numbers", "--topic", name, "--seed", "7", *server]
    assert run([*words, "-c", "30", "--start", "2026-01-01T00:00:00Z"]) == 0
    assert run(["consume", name, "-e", "--value-format", "long", "-f", r"%k %s %T\n", *server]) == 0
    read = [line.split() for line in capsys.readouterr().out.splitlines()]
    made = records(Schema(**{**vars(READY["numbers"]), "topic": name}), count=30)
    assert read == [
        [(r.key or b"").decode(), str(int.from_bytes(r.value or b"")), str(r.timestamp)] for r in made
    ]
    # Live: as many as the time and the rate allow, at times of now.
    assert run([*words, "--seconds", "1", "--rate", "40"]) == 0
    count = int(capsys.readouterr().err.split()[0])
    assert 30 <= count <= 41


def test_topics_that_are_missing_are_created(kafka: Any, capsys: pytest.CaptureFixture[str]) -> None:
    server = ["-b", kafka.bootstrap_servers]
    name = "datagen-creates-this"
    words = ["datagen", "--topic", name, "--field", "value=words(2, 3)", "--format", "string", "-c", "5"]
    assert run([*words, "--at-once", "-p", "3", *server]) == 0
    assert f"created {name}, partitions 3" in capsys.readouterr().err
    assert run(["consume", name, "-e", *server]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
