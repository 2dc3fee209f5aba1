"""Lists in Kafka's layout and keys of windows: the bytes of Python, and what is none."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tidemill import serdes
from tidemill.serde import Windowed

batches = settings(
    max_examples=2, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SIZE = 10_000

text_key = serdes.time_windowed(serdes.string, SIZE)
session_key = serdes.session_windowed(serdes.long)
millis = st.integers(0, 2**42)


def lists(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.none() | st.lists(st.none() | values, max_size=6), min_size=10, max_size=40)


@batches
@given(
    st.tuples(
        lists(st.integers(-(2**63), 2**63 - 1)),
        lists(st.integers(-(2**15), 2**15 - 1)),
        lists(st.floats(allow_nan=False)),
        lists(st.text(max_size=5)),
        lists(st.uuids().map(str)),
        lists(st.fixed_dictionaries({"a": st.none() | st.integers(-9, 9)})),
        lists(st.lists(st.none() | st.binary(max_size=3), max_size=3)),
    )
)
def test_lists_have_the_bytes_of_python_and_come_back(run: Any, drawn: tuple[list[Any], ...]) -> None:
    inner = (
        serdes.long,
        serdes.short,
        serdes.double,
        serdes.string,
        serdes.uuid,
        serdes.json("a int"),
        serdes.list_of(serdes.bytes),
    )
    cases = [(serdes.list_of(serde), values) for serde, values in zip(inner, drawn, strict=True)]
    for (serde, values), (written, read) in zip(cases, run.round_trips(*cases), strict=True):
        assert written == [serde.encode(value) for value in values]
        assert read == values


@batches
@given(
    st.lists(st.none() | st.tuples(st.text(max_size=6), millis), min_size=20, max_size=99),
    st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), millis, millis), min_size=20, max_size=99),
)
def test_windowed_keys_have_the_bytes_of_python(run: Any, tumbling: list[Any], sessions: list[Any]) -> None:
    windows = [key and {"key": key[0], "start": _at(key[1]), "end": None} for key in tumbling]
    spans = [{"key": key, "start": _at(start), "end": _at(end)} for key, start, end in sessions]
    first, second = run.round_trips((text_key, windows), (session_key, spans))
    assert first[0] == [text_key.encode(key and Windowed(key[0], key[1], None)) for key in tumbling]
    assert second[0] == [session_key.encode(Windowed(key, start, end)) for key, start, end in sessions]
    for given_key, read in zip(tumbling, first[1], strict=True):
        if given_key is not None:
            assert read["key"] == given_key[0]
            assert read["end"] - read["start"] == timedelta(milliseconds=SIZE)
    for (key, start, end), read in zip(sessions, second[1], strict=True):
        assert read["key"] == key
        assert read["end"] - read["start"] == timedelta(milliseconds=end - start)


def test_variable_layout_of_numbers_is_read_too(run: Any) -> None:
    data = struct.pack(">biiqi", 1, 2, 8, 77, -1)
    assert run.decode(serdes.list_of(serdes.long), [data]) == [[77, None]]


def test_lists_that_are_cut_or_lie_are_broken(run: Any) -> None:
    longs = serdes.list_of(serdes.long).encode([1, None, 3])
    texts = serdes.list_of(serdes.string).encode(["a", None, ""])
    assert longs is not None
    assert texts is not None
    cases = [
        (
            serdes.list_of(serdes.long),
            [
                *(longs[:length] for length in range(len(longs))),
                longs + b"x",
                b"\x07" + longs[1:],
                struct.pack(">bii", 0, 0, 2**31 - 1),
                struct.pack(">bii", 0, 2**31 - 1, 0),
                struct.pack(">bii", 0, 0, -1),
                struct.pack(">biii", 0, 1, 5, 1),
                struct.pack(">biih", 1, 1, 2, 7),
            ],
        ),
        (
            serdes.list_of(serdes.string),
            [
                *(texts[:length] for length in range(len(texts))),
                texts + b"x",
                struct.pack(">bi", 1, 2**31 - 1),
                struct.pack(">bii", 1, 1, -2),
                struct.pack(">bii", 1, 1, 1) + b"\xff",
                struct.pack(">bii", 0, 0, 0),
            ],
        ),
        (serdes.list_of(serdes.json("a int")), [struct.pack(">bii", 1, 1, 1) + b"{"]),
    ]
    for (_, data), values in zip(cases, run.decode_all(*cases), strict=True):
        assert values == ["BROKEN"] * len(data)


def test_windowed_keys_that_are_cut_or_lie_are_broken(run: Any) -> None:
    far = struct.pack(">q", 2**63 - 1)
    cases = [
        (text_key, [b"", b"short", b"k" + far, b"\xff" + bytes(8)]),
        (serdes.time_windowed(serdes.string), [b"", b"k" + far]),
        (serdes.time_windowed(serdes.long), [bytes(8), bytes(15), bytes(17)]),
        (session_key, [b"", bytes(8), bytes(16), bytes(23), far + far + far]),
    ]
    for (serde, data), values in zip(cases, run.decode_all(*cases), strict=True):
        assert values == ["BROKEN"] * len(data), serde


def test_window_without_size_has_no_end(run: Any) -> None:
    (value,) = run.decode(serdes.time_windowed(serdes.string), [b"k" + bytes(8)])
    assert value["key"] == "k"
    assert value["end"] is None


def _at(millis: int) -> datetime:
    return EPOCH + timedelta(milliseconds=millis)
