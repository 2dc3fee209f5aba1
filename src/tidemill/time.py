"""Durations as people write them, and where a record's time comes from."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from tidemill.errors import UsageError
from tidemill.place import here

Duration = int | timedelta | str
"""Milliseconds, a timedelta, or text such as "10 seconds", "5 min", "1h 30m" or "PT5S"."""


def milliseconds(duration: Duration, *, what: str = "the duration", negative: bool = False) -> int:
    """A duration as whole milliseconds; `what` names it in the error.

    >>> milliseconds("10 seconds"), milliseconds("1h 30m"), milliseconds("PT5S"), milliseconds(250)
    (10000, 5400000, 5000, 250)
    >>> milliseconds("soon", what="the grace period")
    Traceback (most recent call last):
    tidemill.errors.UsageError: the grace period `soon` is not a duration (<doctest ...
    """
    value = _parse(duration, what)
    if value < 0 and not negative:
        raise _error(f"{what} is negative: {duration}", "give zero or more")
    return value


def duration_text(value: int) -> str:
    """Milliseconds in the largest unit that divides them.

    >>> duration_text(90_000), duration_text(3_600_000), duration_text(1_234)
    ('90 s', '1 h', '1234 ms')
    """
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000)):
        if value and value % size == 0:
            return f"{value // size} {unit}"
    return f"{value} ms"


class OnInvalid(StrEnum):
    """What happens to a record whose timestamp is missing or negative."""

    FAIL = "fail"
    SKIP = "skip"
    PARTITION_TIME = "partition-time"


@dataclass(frozen=True, slots=True)
class RecordTime:
    """The timestamp Kafka keeps with the record (the default)."""

    on_invalid: OnInvalid = OnInvalid.FAIL


@dataclass(frozen=True, slots=True)
class WallClock:
    """The moment the record is processed."""


@dataclass(frozen=True, slots=True)
class ExtractedTime:
    """A time computed from the record by the user's function of (value) or (key, value)."""

    fn: Callable[..., Any] = field(compare=False)
    with_key: bool = False
    on_invalid: OnInvalid = OnInvalid.FAIL


TimestampExtractor = RecordTime | WallClock | ExtractedTime


def record_time(*, on_invalid: str = "fail") -> RecordTime:
    """Take the record's own timestamp; `on_invalid` is fail, skip or partition-time.

    >>> record_time(on_invalid="skip")
    RecordTime(on_invalid=<OnInvalid.SKIP: 'skip'>)
    """
    return RecordTime(_on_invalid(on_invalid))


def wall_clock() -> WallClock:
    """Take the time of processing.

    >>> wall_clock()
    WallClock()
    """
    return WallClock()


def extracted_time(fn: Callable[..., Any], *, on_invalid: str = "fail") -> ExtractedTime:
    """Compute the time by a function of (value) or (key, value): a timestamp or epoch milliseconds.

    >>> extracted_time(lambda value: value.at, on_invalid="skip").on_invalid
    <OnInvalid.SKIP: 'skip'>
    """
    return ExtractedTime(fn, on_invalid=_on_invalid(on_invalid))


_UNITS: Final = {
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
    **dict.fromkeys(("w", "week", "weeks"), 604_800_000),
}
_WORDS = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")
_ISO = re.compile(
    r"P(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?"
)


def _parse(duration: Duration, what: str) -> int:
    if isinstance(duration, timedelta):
        return duration // timedelta(milliseconds=1)
    if isinstance(duration, bool) or not isinstance(duration, (int, str)):
        raise _error(f"{what} is a {type(duration).__name__}, not a duration", _FORMS)
    if isinstance(duration, int):
        return duration
    text = duration.strip()
    sign = -1 if text.startswith("-") else 1
    text = text.removeprefix("-")
    total = _iso(text) if text[:1] in ("P", "p") else _words(text.lower())
    if total is None:
        raise _error(f"{what} `{duration}` is not a duration", _FORMS)
    return sign * round(total)


def _iso(text: str) -> float | None:
    match = _ISO.fullmatch(text.upper())
    parts = {unit: number for unit, number in match.groupdict().items() if number} if match else {}
    return sum(float(number) * _UNITS[unit] for unit, number in parts.items()) if parts else None


def _words(text: str) -> float | None:
    parts = _WORDS.findall(text)
    if not parts or _WORDS.sub("", text).strip(" ,") or any(unit not in _UNITS for _, unit in parts):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


_FORMS = 'write milliseconds as a number, a timedelta, or text such as "10 seconds", "5 min" or "PT5S"'


def _on_invalid(choice: str) -> OnInvalid:
    try:
        return OnInvalid(choice)
    except ValueError:
        raise _error(
            f"on_invalid=`{choice}` says nothing about a bad timestamp",
            f"choose one of: {', '.join(OnInvalid)}",
        ) from None


def _error(what: str, remedy: str) -> UsageError:
    place = here()
    return UsageError(what, where=None if place is None else str(place), remedy=remedy)
