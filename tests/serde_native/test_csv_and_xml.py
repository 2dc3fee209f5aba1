"""CSV and XML: Spark's own codecs, made strict."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tidemill import serdes

SCHEMA = "a int, b string, at timestamp_ntz"
CSV, SEMICOLON, XML = (
    serdes.csv(SCHEMA),
    serdes.csv(SCHEMA, delimiter=";"),
    serdes.xml(SCHEMA, row_tag="order"),
)
NOW = datetime(2026, 1, 2, 3, 4, 5, 123456)

# XML has no control characters; CSV keeps them, but a byte order mark is Spark's.
letters = st.text(st.characters(exclude_categories=["C"]) | st.sampled_from(' ,;"\\\n\t#<>&'), max_size=8)
# Spark's XML reader refuses the smallest number of each integer type: its sign is cut off first.
rows = st.none() | st.fixed_dictionaries(
    {"a": st.none() | st.integers(1 - 2**31, 2**31 - 1), "b": st.none() | letters, "at": st.just(NOW)}
)


@settings(max_examples=2, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(rows, min_size=20, max_size=99))
def test_rows_come_back(run: Any, batch: list[Any]) -> None:
    for _, read in run.round_trips((CSV, batch), (SEMICOLON, batch), (XML, batch)):
        assert [pair for pair in zip(batch, read, strict=True) if pair[0] != pair[1]] == []


def test_csv_is_what_spreadsheets_write(run: Any) -> None:
    values = [(1, 'say "hi", x', NOW), (None, "", None), (None, None, None)]
    assert run.encode(CSV, values) == [
        b'1,"say ""hi"", x",2026-01-02T03:04:05.123456',
        b',"",',
        b",,",
    ]


def test_line_of_one_field(run: Any) -> None:
    values = [{"b": "x"}, {"b": ""}, {"b": None}, {"b": "a,b"}, None]
    assert run.round_trips((serdes.csv("b string"), values)) == [
        ([b"x", b'""', b"", b'"a,b"', None], values),
    ]


def test_smallest_integer_in_xml_is_broken_not_wrong(run: Any) -> None:
    assert run.decode(XML, [b"<order><a>-2147483648</a></order>"]) == ["BROKEN"]


def test_what_is_no_row_is_broken(run: Any) -> None:
    lines = [b"", b"\n", b"x,1,", b"1,x", b"1,x,,4", b"\xff,1,", b"1,b,nope", b"1,a,\n2,b,", b'1,"x']
    texts = [
        b"",
        b"text",
        b"<order><a>x</a></order>",
        b"<order><a>1</a>",
        b"<order><a>1</a></order>x",
        b"<order/><order/>",
        b"<other><a>1</a></other>",
        b"x<order/>",
        b"<order><b>\xff</b></order>",
    ]
    read = run.decode_all((CSV, lines), (XML, texts))
    assert [dict(zip(lines, read[0], strict=True)), dict(zip(texts, read[1], strict=True))] == [
        dict.fromkeys(lines, "BROKEN"),
        dict.fromkeys(texts, "BROKEN"),
    ]
