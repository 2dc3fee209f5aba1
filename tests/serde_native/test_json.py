"""JSON: the bytes of Python, values of every type, and texts that are none."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tidemill import serdes

batches = settings(
    max_examples=2, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
NESTED = serdes.json(
    "id bigint, `a name` string, ok boolean, tags array<string>, counts map<string,int>, "
    "inner struct<x:smallint,deep:array<struct<y:string>>>, raw binary"
)
long = st.integers(-(2**63), 2**63 - 1)


def optional(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def fields(**values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Records whose fields are in the order of the schema, each present or None."""
    names = [name.replace("_", " ") for name in values]
    drawn = st.tuples(*(optional(value) for value in values.values()))
    return drawn.map(lambda items: dict(zip(names, items, strict=True)))


record = fields(
    id=long,
    a_name=st.text(),
    ok=st.booleans(),
    tags=st.lists(optional(st.text(max_size=4)), max_size=4),
    counts=st.dictionaries(st.text(max_size=4), optional(st.integers(-9, 9)), max_size=1),
    inner=fields(x=st.integers(-99, 99), deep=st.lists(fields(y=st.text()), max_size=3)),
    raw=st.binary(max_size=5),
)
times = st.datetimes(datetime(1600, 1, 1), datetime(9999, 1, 1))
TIMES = serdes.json("at timestamp, day date")
LOCAL = serdes.json("at timestamp_ntz, day date")


def batch(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(optional(values), min_size=20, max_size=80)


@batches
@given(batch(record), batch(long), batch(st.text()), batch(times))
def test_values_have_the_bytes_of_python_and_come_back(
    run: Any, records: list[Any], numbers: list[Any], texts: list[Any], at: list[Any]
) -> None:
    local = [None if time is None else {"at": time, "day": time.date()} for time in at]
    aware = [row and {**row, "at": row["at"].replace(tzinfo=UTC)} for row in local]
    cases = [
        (NESTED, records),
        (serdes.json("bigint"), numbers),
        (serdes.json("string"), texts),
        (LOCAL, local),
        (TIMES, aware),
    ]
    for (serde, values), (written, read) in zip(cases, run.round_trips(*cases), strict=True):
        assert written == [serde.encode(value) for value in values]
        if serde is not TIMES:  # a collected timestamp is in the zone of the machine
            assert read == values


@batches
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=20, max_size=300))
def test_floats_are_the_same_numbers(run: Any, batch: list[float]) -> None:
    serde = serdes.json("double")
    ((written, read),) = run.round_trips((serde, batch))
    assert [json.loads(data) for data in written] == read == batch
    assert run.decode(serde, [serde.encode(value) for value in batch]) == batch


def test_decimals_are_exact(run: Any) -> None:
    serde = serdes.json("decimal(38,18)")
    values = [Decimal("12345678901234567890.123456789012345678"), Decimal("-0.000000000000000001")]
    assert run.decode(serde, run.encode(serde, values)) == values


def test_numbers_json_lacks_are_quoted(run: Any) -> None:
    serde = serdes.json("array<double>")
    written = run.encode(serde, [[float("nan"), float("inf"), -float("inf")]])
    assert written == [b'["NaN","Infinity","-Infinity"]']
    assert repr(run.decode(serde, written)) == "[[nan, inf, -inf]]"


def test_fields_are_found_by_name(run: Any) -> None:
    serde = serdes.json("city string, n int")
    assert run.encode(serde, [(7, "Oslo", True)], "struct<n:bigint,city:string,more:boolean>") == [
        b'{"city":"Oslo","n":7}'
    ]


def test_date_and_missing_and_unknown_fields(run: Any) -> None:
    serde = serdes.json("day date, n int")
    assert run.decode(serde, [b'{"day":"2026-01-02","x":[{}]}', b"{}", b" { } "]) == [
        {"day": date(2026, 1, 2), "n": None},
        {"day": None, "n": None},
        {"day": None, "n": None},
    ]


def test_null_is_a_value_and_no_broken_text(run: Any) -> None:
    schemas = ("a int, b string", "array<int>", "map<string,int>", "int")
    data = [b"null", b" null\n", None]
    assert run.decode_all(*((serdes.json(schema), data) for schema in schemas)) == [[None] * 3] * 4


BROKEN = {
    "a int, b string": [
        b"",
        b" ",
        b"{",
        b'{"a":1',
        b'{"a":1} x',
        b'{"a":1}{"a":2}',
        b'{"a":1}}',
        b'{"a":"x"}',
        b'{"a":1.5}',
        b'{"a":99999999999}',
        b'{"a":{}}',
        b"{'a':1}",
        b"{a:1}",
        b"[]",
        b"5",
        b'"text"',
        b"nullx",
        b'{"b":"\xff"}',
        b'{"unknown":"\xff"}',
        b'{"a":1,}',
    ],
    "at timestamp": [b'{"at":"yesterday"}', b'{"at":[]}'],
    "array<int>": [b"{}", b"[1,2", b'["x"]', b"[1] 2", b"1"],
    "map<string,int>": [b"[]", b'{"a":"x"}'],
    "bigint": [b"x", b"1 2", b'"1x"', b"1.5", b"[1]", b"9223372036854775808", b'1,"w":2'],
    "outer struct<n:int>": [b'{"outer":{"n":"x"}}', b'{"outer":5}'],
}


def test_text_in_which_not_everything_fits_is_broken(run: Any) -> None:
    cases = [(serdes.json(schema), texts) for schema, texts in BROKEN.items()]
    for (_, texts), values in zip(cases, run.decode_all(*cases), strict=True):
        assert dict(zip(texts, values, strict=True)) == dict.fromkeys(texts, "BROKEN")
