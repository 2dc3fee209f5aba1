"""What a source is told: its topics, where time comes from, and where reading starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from tidemill.place import here
from tidemill.time import ExtractedTime, RecordTime, TimestampExtractor, WallClock, milliseconds
from tidemill.topology import TopologyError
from tidemill.topology.functions import takes_key
from tidemill.topology.names import words
from tidemill.topology.nodes import OffsetReset, ResetPolicy

Topics = str | Iterable[str] | re.Pattern[str]
Timestamp = TimestampExtractor | Callable[..., Any]
Reset = str | OffsetReset


def topics_of(topics: Topics) -> tuple[tuple[str, ...], str | None, str]:
    """Topics, pattern, and the words they are called by."""
    if isinstance(topics, re.Pattern):
        return (), topics.pattern, words(topics.pattern) or "all"
    names = (topics,) if isinstance(topics, str) else tuple(dict.fromkeys(topics))
    if not names or not all(isinstance(name, str) for name in names):
        raise TopologyError(
            f"stream takes a topic, topics or a pattern, not {topics!r}",
            place=here(),
            remedy='write stream("orders"), stream(["a", "b"]) or stream(re.compile("orders-.*"))',
        )
    return names, None, "-and-".join(names)


def extractor(timestamp: Timestamp | None) -> TimestampExtractor | None:
    """Where a record's time comes from, as data."""
    if timestamp is None or isinstance(timestamp, RecordTime | WallClock):
        return timestamp
    asked = timestamp if isinstance(timestamp, ExtractedTime) else ExtractedTime(timestamp)
    return replace(asked, with_key=takes_key("timestamp=", asked.fn))


def offset_reset_of(reset: Reset | None) -> OffsetReset | None:
    """Where reading starts, as data; "by_duration:PT1H" is Kafka's own form."""
    if reset is None or isinstance(reset, OffsetReset):
        return reset
    policy, _, duration = str(reset).partition(":")
    try:
        chosen = ResetPolicy(policy)
    except ValueError:
        chosen = None
    if chosen is None or (chosen is ResetPolicy.BY_DURATION) != bool(duration):
        raise TopologyError(
            f"`{reset}` is no offset reset",
            place=here(),
            remedy='write "earliest", "latest", "none" or "by_duration:PT1H"',
        )
    return OffsetReset(chosen, milliseconds(duration, what="the reset duration") if duration else None)
