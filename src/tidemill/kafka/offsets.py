"""Places in a topic: the words users name them with, and the offsets they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from tidemill.errors import UsageError
from tidemill.kafka.admin import Admin
from tidemill.kafka.clients import REQUEST_TIMEOUT, admin_types
from tidemill.kafka.errors import LeaderMoving, Subject
from tidemill.kafka.patience import patient

Place = Literal["beginning", "end", "stored", "offset", "tail", "time"]
TopicPartition = tuple[str, int]

_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE)
_SHORT = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", re.IGNORECASE)
_UNIT = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Range:
    """Where to start reading, and the time to stop at if one was given."""

    place: Place
    number: int = 0
    until_ms: int | None = None


@dataclass(frozen=True)
class Watermarks:
    """The first and the next offset of a partition."""

    low: int
    high: int

    @property
    def count(self) -> int:
        return self.high - self.low

    def clip(self, offset: int) -> int:
        return max(self.low, min(self.high, offset))


def parse_offsets(words: Iterable[str]) -> Range | None:
    """Read kcat's offset words: beginning, end, stored, N, -N, s@TIME, e@TIME; None if there are none.

    >>> parse_offsets(["-5"])
    Range(place='tail', number=5, until_ms=None)
    >>> parse_offsets(["s@1000", "e@2000"])
    Range(place='time', number=1000, until_ms=2000)
    """
    start: Range | None = None
    until: int | None = None
    for word in words:
        if word.startswith("e@"):
            until = parse_time(word[2:])
        else:
            start = _start(word)
    if start is None:
        return None if until is None else Range("beginning", until_ms=until)
    return Range(start.place, start.number, until)


def parse_time(text: str) -> int:
    """Milliseconds since 1970 from milliseconds or ISO 8601 (UTC where no zone is said).

    >>> parse_time("1970-01-01T00:00:01"), parse_time("1500")
    (1000, 1500)
    """
    if text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"`{text}` is not a time", remedy="write milliseconds since 1970, or 2026-01-31T12:00:00"
        ) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def parse_duration(text: str) -> timedelta:
    """A duration, as ISO 8601 (`PT1H30M`, `P7D`) or short (`90m`, `7d`).

    >>> parse_duration("PT1H30M"), parse_duration("90m")
    (datetime.timedelta(seconds=5400), datetime.timedelta(seconds=5400))
    """
    short = _SHORT.fullmatch(text.strip())
    if short:
        return timedelta(seconds=float(short[1]) * _UNIT[short[2].lower()])
    match = _DURATION.fullmatch(text.strip())
    if match is None or not any(match.groups()):
        raise UsageError(f"`{text}` is not a duration", remedy="write PT1H30M, P7D, 90m or 7d")
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def watermarks(
    admin: Admin, partitions: Iterable[TopicPartition], *, committed_only: bool = False
) -> dict[TopicPartition, Watermarks]:
    """First and next offset of every partition; `committed_only` ends at the last stable offset."""
    wanted = list(partitions)
    low = _list_offsets(admin, wanted, "earliest", committed_only=committed_only)
    high = _list_offsets(admin, wanted, "latest", committed_only=committed_only)
    return {partition: Watermarks(low[partition], high[partition]) for partition in wanted}


def offsets_at(admin: Admin, partitions: Iterable[TopicPartition], time_ms: int) -> dict[TopicPartition, int]:
    """The offset of the first record at or after a time; the end where there is none."""
    wanted = list(partitions)
    found = _list_offsets(admin, wanted, time_ms)
    late = [partition for partition in wanted if found[partition] < 0]
    return {**found, **_list_offsets(admin, late, "latest")}


@patient(LeaderMoving)
def _list_offsets(
    admin: Admin, partitions: list[TopicPartition], spec: str | int, *, committed_only: bool = False
) -> dict[TopicPartition, int]:
    from confluent_kafka import IsolationLevel
    from confluent_kafka import TopicPartition as ClientPartition

    if not partitions:
        return {}
    admin.reach()
    specs = admin_types().OffsetSpec
    if isinstance(spec, int):
        wanted = specs.for_timestamp(spec)
    else:
        wanted = specs.earliest() if spec == "earliest" else specs.latest()
    level = IsolationLevel.READ_COMMITTED if committed_only else IsolationLevel.READ_UNCOMMITTED
    futures = admin.raw.list_offsets(
        {ClientPartition(topic, partition): wanted for topic, partition in partitions},
        isolation_level=level,
        request_timeout=REQUEST_TIMEOUT,
    )
    return {
        (key.topic, key.partition): int(admin.wait(future, Subject("topic", key.topic)).offset)
        for key, future in futures.items()
    }


def _start(word: str) -> Range:
    named: dict[str, Place] = {
        "beginning": "beginning",
        "start": "beginning",
        "earliest": "beginning",
        "end": "end",
        "latest": "end",
        "stored": "stored",
    }
    if word in named:
        return Range(named[word])
    if word.startswith("s@"):
        return Range("time", parse_time(word[2:]))
    if re.fullmatch(r"-\d+", word):
        return Range("tail", int(word[1:]))
    if word.isdigit():
        return Range("offset", int(word))
    raise UsageError(
        f"`{word}` is not an offset",
        where="-o",
        remedy="write beginning, end, stored, N, -N (N before the end), s@TIME or e@TIME",
    )
