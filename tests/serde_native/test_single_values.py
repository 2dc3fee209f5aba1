"""Strings, bytes, numbers, booleans, UUIDs and nothing: the same bytes as in Python, and back."""

from __future__ import annotations

import math
import struct
import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tidemill import serdes
from tidemill.serde import Serde

# A Spark job costs more than a thousand values: few examples, each of many values, none made smaller.
batches = settings(
    max_examples=2, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)


def many(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.none() | values, min_size=20, max_size=300)


def whole(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


CASES: list[tuple[Serde, st.SearchStrategy[Any]]] = [
    (serdes.string, st.text()),
    (serdes.bytes, st.binary()),
    (serdes.short, whole(16)),
    (serdes.int, whole(32)),
    (serdes.long, whole(64)),
    (serdes.float, st.floats(width=32)),
    (serdes.double, st.floats()),
    (serdes.boolean, st.booleans()),
    (serdes.uuid, st.uuids().map(str)),
]


@batches
@given(st.tuples(*(many(values) for _, values in CASES)))
def test_bytes_are_those_of_python_and_come_back(run: Any, drawn: tuple[list[Any], ...]) -> None:
    cases = [(serde, values) for (serde, _), values in zip(CASES, drawn, strict=True)]
    for (serde, values), (written, read) in zip(cases, run.round_trips(*cases), strict=True):
        assert [_no_nan(serde, data) for data in written] == [
            _no_nan(serde, serde.encode(value)) for value in values
        ]
        assert list(map(repr, read)) == list(map(repr, values))


@batches
@given(st.lists(st.binary(max_size=12), min_size=20, max_size=300))
def test_arbitrary_bytes_are_what_python_says_or_broken(run: Any, batch: list[bytes]) -> None:
    tried = (serdes.string, serdes.short, serdes.int, serdes.long, serdes.double, serdes.boolean)
    for serde, values in zip(tried, run.decode_all(*((serde, batch) for serde in tried)), strict=True):
        assert list(map(repr, values)) == [repr(_python(serde, data)) for data in batch]


def test_extremes_come_back(run: Any) -> None:
    values = [math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308, math.nan]
    written = run.encode(serdes.double, values)
    assert [struct.pack(">d", value) for value in values] == written
    assert list(map(repr, run.decode(serdes.double, written))) == list(map(repr, values))


def test_bytes_that_do_not_parse_are_broken(run: Any) -> None:
    cases = [
        (serdes.string, [b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xc0\x80"]),
        (serdes.short, [b"", b"1", b"123"]),
        (serdes.int, [b"", b"123", b"12345"]),
        (serdes.long, [b"", b"1234567", b"123456789"]),
        (serdes.float, [b"123"]),
        (serdes.double, [b"1234"]),
        (serdes.boolean, [b"", b"\x02", b"\x01\x01"]),
        (serdes.uuid, [b"", b"1-1-1-1-1", b"x" * 36, str(uuid.UUID(int=0)).encode() + b" "]),
    ]
    for (serde, data), values in zip(cases, run.decode_all(*cases), strict=True):
        assert values == ["BROKEN"] * len(data), serde.name


def test_void_is_null_whatever_the_bytes(run: Any) -> None:
    assert run.decode(serdes.void, [None, b"", b"x"]) == [None] * 3
    assert run.encode(serdes.void, [None], "string") == [None]


def test_uuid_is_written_in_lower_case(run: Any) -> None:
    one = uuid.UUID("ABCDEF00-1111-2222-3333-444455556666")
    assert run.encode(serdes.uuid, [str(one).upper()]) == [str(one).encode()]
    assert run.decode(serdes.uuid, [str(one).upper().encode()]) == [str(one)]


@pytest.mark.parametrize(
    ("serde", "value", "type_"), [(serdes.uuid, "no", "string"), (serdes.int, 2**40, "bigint")]
)
def test_value_without_bytes_fails_the_query(run: Any, serde: Serde, value: Any, type_: str) -> None:
    with pytest.raises(Exception, match=r"no UUID|overflow"):
        run.encode(serde, [value], type_)


def _python(serde: Serde, data: bytes) -> Any:
    try:
        return serde.decode(data)
    except Exception:
        return "BROKEN"


def _no_nan(serde: Serde, data: bytes | None) -> Any:
    """The bytes, but every NaN alike: Java knows only one, as Kafka's serializers do."""
    if data is not None and serde in (serdes.float, serdes.double) and math.isnan(serde.decode(data)):
        return "NaN"
    return data
