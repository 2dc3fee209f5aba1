"""`tidemill dlq` against a real broker."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tidemill.kafka.dead_letters import Letter, letters
from tidemill.kafka.records import Record
from tidemill.kafka.settings import Settings
from tidemill.kafka.writer import Writer

PREFIX = "__streams.errors."


def reason(**told: str) -> list[tuple[str, bytes | None]]:
    return [(PREFIX + name.replace("_", "."), value.encode()) for name, value in told.items()]


@pytest.fixture
def settings(kafka: Any) -> Settings:
    return Settings.of({"bootstrap.servers": kafka.bootstrap_servers})


@pytest.fixture
def topics(settings: Settings, topic: Callable[..., str]) -> tuple[str, str]:
    """A topic, and four dead letters of its records: one of them without its value, one of a punctuator."""
    forever = {"retention.ms": "-1"}  # the timestamps are of 2001
    source, dlq = topic("in", partitions=3, config=forever), topic("app-dlq", config=forever)
    broken = reason(kind="deserialization", node="read", exception="tidemill.DeserializationError")
    failed = reason(kind="processing", node="divide", exception="ZeroDivisionError", message="by zero")
    origin = reason(topic=source, partition="2", offset="7", stacktrace="line 1\nline 2")
    own: list[tuple[str, bytes | None]] = [("trace", b"t"), ("trace", None)]
    Writer(settings, dlq).write_all(
        [
            Record(b"\xff", b"a", [*own, *broken, *origin], timestamp=1_000_000_000_000),
            Record(b"0", b"b", [*own, *failed, *origin], timestamp=1_000_000_000_001),
            Record(None, b"c", [*failed, *origin, *reason(value_left_out="9000000")]),
            Record(None, None, failed),
        ]
    )
    return source, dlq


def records(settings: Settings, topic: str, count: int) -> list[Record]:
    """What is in a topic; the broker may tell of a transaction's end a little later than its writer."""
    for _ in range(200):
        found = [letter.record for letter in letters(settings, topic)]
        if len(found) >= count:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{len(found)} records, not {count}")


def test_letters_are_counted_by_reason(cli: Callable[..., Any], topics: tuple[str, str]) -> None:
    source, dlq = topics
    assert cli("dlq", "list", dlq).lines == [
        f"{dlq}\tdeserialization\tread\t{source}\ttidemill.DeserializationError\t1\t0",
        f"{dlq}\tprocessing\tdivide\t{source}\tZeroDivisionError\t2\t0",
        f"{dlq}\tprocessing\tdivide\t\tZeroDivisionError\t1\t0",
    ]
    missing = cli("dlq", "list", "no-such-app")
    assert missing.code == 3
    assert "no-such-app-dlq" in missing.err


def test_letters_are_shown_with_their_reason(cli: Callable[..., Any], topics: tuple[str, str]) -> None:
    source, dlq = topics
    shown = cli("dlq", "show", dlq, "--error", "by zero", "-c", "1", "--trace").lines
    assert shown == [
        f"{dlq}[0]@1  processing failed at `divide`",
        "  ZeroDivisionError: by zero",
        f"  record  {source}:2:7  2001-09-09 01:46:40.001",
        "  key     b",
        "  value   0",
        "  headers trace=t,trace=NULL",
        "    line 1",
        "    line 2",
    ]
    (letter,) = cli("dlq", "show", dlq, "--at", "0:0", "-O", "json").json()
    assert letter["record"]["value_base64"] == "/w=="
    assert letter["record"]["offset"] == 7
    assert letter["reason"]["kind"] == "deserialization"
    assert letter["letter"] == {"topic": dlq, "partition": 0, "offset": 0}
    assert cli("dlq", "show", dlq, "--at", "first").code == 2
    assert "9000000 bytes, left out" in cli("dlq", "show", dlq, "--at", "0:2").out


def test_letters_go_back_once(cli: Callable[..., Any], topics: tuple[str, str], settings: Settings) -> None:
    source, dlq = topics
    dry = cli("dlq", "replay", dlq)
    assert (len(dry.lines), records(settings, source, 0)) == (2, [])
    assert "2 records would be sent back" in dry.err

    assert "Sent 1 records back." in cli("dlq", "replay", dlq, "--node", "divide", "--execute").err
    (first,) = records(settings, source, 1)
    assert first == Record(
        b"0", b"b", [("trace", b"t"), ("trace", None)], 1_000_000_000_001, source, partition=2, offset=0
    )
    assert [row["replayed"] for row in cli("dlq", "list", dlq, "-O", "json").json()] == [0, 1, 0]

    assert cli("dlq", "replay", dlq, "--execute").lines == [
        f"0\t0\t{source}\tread\ttidemill.DeserializationError"
    ]
    assert "Sent 0 records back." in cli("dlq", "replay", dlq, "--execute").err
    assert [record.value for record in records(settings, source, 2)] == [b"0", b"\xff"]


def test_letter_of_a_missing_topic_stays(cli: Callable[..., Any], topic: Any, settings: Settings) -> None:
    dlq = topic("lost-dlq")
    gone = reason(kind="processing", topic="gone-for-good", exception="E")
    Writer(settings, dlq).write_all([Record(b"v", b"k", gone)])
    result = cli("dlq", "replay", dlq, "--execute")
    assert result.code == 3
    assert "gone-for-good" in result.err
    assert cli("dlq", "list", dlq, "-O", "json").json()[0]["replayed"] == 0


def test_letter_without_headers_is_told_as_it_is() -> None:
    letter = Letter(Record(b"v", partition=0, offset=3))
    assert not letter.is_whole
    assert letter.told(f"{PREFIX}kind") == ""
