"""Records as people write and read them, and the places and times they name."""

import json

import pytest

from tidemill.errors import UsageError
from tidemill.kafka.offsets import Range, parse_duration, parse_offsets, parse_time
from tidemill.kafka.records import (
    Format,
    Record,
    compile_format,
    decode,
    encode,
    from_json,
    show_time,
    to_json,
)

RECORD = Record(b"v\xc3\xa4", b"k", [("a", b"1"), ("b", None)], 1500, topic="t", partition=2, offset=7)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (r"%t %p %o %k=%s\n", "t 2 7 k=vä\n"),
        (r"%t\t%v\t%d", "t\tvä\t1500"),
        ("%T|%h|%K|%S|%%", "1500|a=1,b=NULL|1|3|%"),
        (r"\x41\\n→", "A\\n→"),
    ],
)
def test_percent_formats_of_kcat_and_rpk(template: str, text: str) -> None:
    assert compile_format(template)(RECORD) == text.encode()


def test_an_unknown_directive_is_told() -> None:
    with pytest.raises(UsageError, match="unknown `%q`"):
        compile_format("%q")


def test_json_goes_out_and_comes_back() -> None:
    binary = Record(b"\xff", None, [("h", b"\xfe")], 5)
    for record in (RECORD, binary, Record(None, b"k", [], 5)):
        back = from_json(json.dumps(to_json(record)))
        assert (back.key, back.value, back.headers, back.timestamp) == (
            record.key,
            record.value,
            record.headers,
            record.timestamp,
        )


def test_json_takes_what_people_write() -> None:
    record = from_json('{"value": {"a": [1, "ü"]}, "headers": {"x": 1}, "timestamp": "1970-01-01T00:00:02Z"}')
    assert record.value == '{"a":[1,"ü"]}'.encode()
    assert record.headers == [("x", b"1")]
    assert record.timestamp == 2000
    assert from_json('{"value": 258}', value_form=Format.int).value == b"\0\0\1\2"


@pytest.mark.parametrize("line", ["nonsense", "[1]", '{"headers": [1]}'])
def test_what_is_no_record_is_refused(line: str) -> None:
    with pytest.raises(UsageError):
        from_json(line)


@pytest.mark.parametrize(
    ("form", "text", "data"),
    [
        (Format.long, "-1", b"\xff" * 8),
        (Format.int, "1", b"\0\0\0\1"),
        (Format.double, "1.5", b"\x3f\xf8" + b"\0" * 6),
        (Format.float, "1.5", b"\x3f\xc0\0\0"),
        (Format.hex, "00ff", b"\0\xff"),
        (Format.base64, "AP8=", b"\0\xff"),
        (Format.string, "ü", b"\xc3\xbc"),
        (Format.windowed, "a@b@258", b"a@b" + (258).to_bytes(8)),
        (Format.session, "a@1/258", b"a" + (258).to_bytes(8) + (1).to_bytes(8)),
    ],
)
def test_formats_of_keys_and_values(form: Format, text: str, data: bytes) -> None:
    assert encode(text, form) == data
    assert decode(data, form) == text


def test_text_that_does_not_fit_its_format_is_refused() -> None:
    with pytest.raises(UsageError, match="`x` is not of the format long"):
        encode("x", Format.long)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ([], None),
        (["beginning"], Range("beginning")),
        (["end"], Range("end")),
        (["stored"], Range("stored")),
        (["5"], Range("offset", 5)),
        (["-5"], Range("tail", 5)),
        (["s@1000"], Range("time", 1000)),
        (["s@1000", "e@2000"], Range("time", 1000, 2000)),
        (["e@2000"], Range("beginning", 0, 2000)),
    ],
)
def test_offsets_of_kcat(words: list[str], place: Range | None) -> None:
    assert parse_offsets(words) == place


@pytest.mark.parametrize("word", ["middle", "s@noon", "1.5", "--5"])
def test_what_is_no_offset_is_refused(word: str) -> None:
    with pytest.raises(UsageError):
        parse_offsets([word])


def test_times_and_durations() -> None:
    assert parse_time("2026-01-31T12:00:00") == parse_time("2026-01-31T13:00:00+01:00")
    assert parse_duration("PT1H30M") == parse_duration("90m") == parse_duration("5400s")
    assert parse_duration("P7D") == parse_duration("7d")
    assert show_time(1_500) == "1970-01-01 00:00:01.500"
    for wrong in ("P", "PT", "1 year"):
        with pytest.raises(UsageError):
            parse_duration(wrong)
