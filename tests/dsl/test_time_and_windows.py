"""Durations in every form, and the numbers of windows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill import windows
from tidemill.errors import UsageError
from tidemill.time import OnInvalid, duration_text, milliseconds, record_time
from tidemill.windows import window_text


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        (0, 0),
        (250, 250),
        (timedelta(seconds=1.5), 1500),
        ("10 seconds", 10_000),
        ("5 min", 300_000),
        ("1h 30m", 5_400_000),
        ("2 days, 1 hour", 176_400_000),
        ("1.5s", 1500),
        ("100ms", 100),
        ("1 week", 604_800_000),
        ("PT5S", 5000),
        ("PT1H30M", 5_400_000),
        ("P1DT0.5S", 86_400_500),
        ("p2w", 1_209_600_000),
        (" 3 S ", 3000),
    ],
)
def test_duration(duration: Any, expected: int) -> None:
    assert milliseconds(duration) == expected


@pytest.mark.parametrize(
    "duration", ["", "soon", "5", "5 lightyears", "P", "PT", "3 s ago", 1.5, True, None, -1, "-1 s"]
)
def test_no_duration(duration: Any) -> None:
    with pytest.raises(UsageError):
        milliseconds(duration)


def test_negative_where_it_means_something() -> None:
    assert milliseconds("-5 s", negative=True) == -5000


@given(st.integers(0, 10**12))
def test_text_of_a_duration_reads_back(value: int) -> None:
    assert milliseconds(duration_text(value)) == value


def test_join_windows() -> None:
    both = windows.join("10 s", grace="1 s")
    assert (both.before, both.after, both.size, both.minimum_retention) == (10_000, 10_000, 20_000, 21_000)
    skewed = windows.join(before="10 s", after="-5 s")
    assert (skewed.before, skewed.after, skewed.size) == (10_000, -5000, 5000)


@pytest.mark.parametrize(
    ("window", "text"),
    [
        (windows.tumbling("10 s", grace="5 s"), "tumbling 10 s, grace 5 s"),
        (windows.hopping("1 h", "10 min"), "hopping 1 h by 10 min"),
        (windows.sliding("10 s"), "sliding 10 s"),
        (windows.session("5 min"), "session 5 min"),
        (windows.unlimited(7), "unlimited from 7"),
        (windows.custom(lambda timestamp: timestamp, "1 d"), "custom up to 1 d"),
        (windows.join("5 s", after=0), "join 5 s before, 0 ms after"),
    ],
)
def test_window_in_words(window: Any, text: str) -> None:
    assert window_text(window) == text


def test_hopping_by_its_size_is_tumbling() -> None:
    assert windows.hopping("10 s", "10 s") == windows.tumbling("10 s")


def test_record_time_says_what_happens_to_bad_ones() -> None:
    assert record_time(on_invalid="partition-time").on_invalid is OnInvalid.PARTITION_TIME
