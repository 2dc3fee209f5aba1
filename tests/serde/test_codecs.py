"""Encoding and decoding in plain Python: round trips, nulls and errors."""

from __future__ import annotations

import dataclasses
import struct
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill import serdes
from tidemill.serde import Serde, SerdeError, Windowed


@dataclasses.dataclass
class Order:
    id: int
    city: str | None


class Colour(Enum):
    RED = "red"


ALL = [
    serdes.string,
    serdes.bytes,
    serdes.short,
    serdes.int,
    serdes.long,
    serdes.float,
    serdes.double,
    serdes.boolean,
    serdes.uuid,
    serdes.json("a int"),
    serdes.list_of(serdes.long),
    serdes.time_windowed(serdes.string, 10),
    serdes.session_windowed(serdes.string),
]


@pytest.mark.parametrize("serde", ALL, ids=lambda serde: serde.name)
def test_none_is_a_tombstone(serde: Serde) -> None:
    assert serde.encode(None) is None
    assert serde.decode(None) is None


@given(st.integers(-(2**63), 2**63 - 1))
def test_long_comes_back(value: int) -> None:
    assert serdes.long.decode(serdes.long.encode(value)) == value


@given(st.text())
def test_string_comes_back(value: str) -> None:
    assert serdes.string.decode(serdes.string.encode(value)) == value


@given(st.lists(st.none() | st.text(max_size=5)), st.lists(st.none() | st.integers(-9, 9)))
def test_list_comes_back(texts: list[str | None], numbers: list[int | None]) -> None:
    assert serdes.list_of(serdes.string).decode(serdes.list_of(serdes.string).encode(texts)) == texts
    assert serdes.list_of(serdes.int).decode(serdes.list_of(serdes.int).encode(numbers)) == numbers


@given(st.text(max_size=9), st.integers(0, 2**41), st.integers(0, 2**30))
def test_windowed_key_comes_back(key: str, start: int, length: int) -> None:
    session = serdes.session_windowed(serdes.string)
    assert session.decode(session.encode(Windowed(key, start, start + length))).end == start + length
    tumbling = serdes.time_windowed(serdes.string, length)
    assert tumbling.decode(tumbling.encode(Windowed(key, start, None))) == Windowed(
        key, start, start + length
    )


def test_window_without_size_has_no_end() -> None:
    unlimited = serdes.time_windowed(serdes.string)
    assert unlimited.decode(b"k" + struct.pack(">q", 7)) == Windowed("k", 7, None)


def test_json_takes_dicts_dataclasses_and_models() -> None:
    class Model:
        def model_dump(self) -> dict[str, Any]:
            return {"id": 1}

    json = serdes.json("id bigint")
    assert json.encode({"id": 1}) == json.encode(Model()) == b'{"id":1}'
    assert serdes.json(Order).encode(Order(1, None)) == b'{"id":1,"city":null}'


def test_json_writes_what_json_lacks_in_a_known_form() -> None:
    value = {
        "at": datetime(2026, 1, 2, tzinfo=UTC),
        "amount": Decimal("1.5"),
        "raw": b"\xff",
        "colour": Colour.RED,
        "id": uuid.UUID(int=1),
        "tags": {"b", "a"},
    }
    assert serdes.json("x string").encode(value) == (
        b'{"at":"2026-01-02T00:00:00+00:00","amount":1.5,"raw":"/w==","colour":"red",'
        b'"id":"00000000-0000-0000-0000-000000000001","tags":["a","b"]}'
    )


@pytest.mark.parametrize(
    ("serde", "value"),
    [
        (serdes.string, 3),
        (serdes.int, 2**40),
        (serdes.long, "3"),
        (serdes.uuid, "no"),
        (serdes.json("a int"), object()),
        (serdes.void, 1),
        (serdes.csv("a int"), {"a": 1}),
        (serdes.protobuf("shop.Order", "orders.desc"), {}),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
def test_wrong_value_is_told(serde: Serde, value: Any) -> None:
    with pytest.raises(SerdeError):
        serde.encode(value)


@pytest.mark.parametrize(
    ("serde", "data"),
    [
        (serdes.long, b"123"),
        (serdes.boolean, b"\x02"),
        (serdes.string, b"\xff"),
        (serdes.json("a int"), b"{"),
        (serdes.list_of(serdes.long), b"\x00\x00"),
        (serdes.session_windowed(serdes.string), b"short"),
        (serdes.xml("a int"), b"<a/>"),
    ],
    ids=lambda item: getattr(item, "name", ""),
)
def test_wrong_bytes_are_told(serde: Serde, data: bytes) -> None:
    with pytest.raises(SerdeError):
        serde.decode(data)


def test_custom_serde_uses_its_functions() -> None:
    reverse = serdes.custom(
        "reverse", str, encode=lambda v: v[::-1].encode(), decode=lambda d: d[::-1].decode()
    )
    assert reverse.decode(reverse.encode("abc")) == "abc"
    assert reverse.schema == "string"


def test_serdes_are_equal_by_what_they_declare() -> None:
    assert serdes.json("a int") == serdes.json("a int")
    assert serdes.json("a int") != serdes.json("a bigint")
    assert hash(serdes.time_windowed(serdes.string, 5)) == hash(serdes.time_windowed(serdes.string, 5))


def test_plan_form_of_a_serde_is_plain_data() -> None:
    assert serdes.time_windowed(serdes.string, 5).to_json() == {
        "format": "time-windowed",
        "schema": "struct<key:string,start:timestamp,end:timestamp>",
        "inner": {"format": "string", "schema": "string"},
        "size": 5,
    }
