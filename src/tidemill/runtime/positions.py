"""Where reading begins and ends: words, times and offsets as offsets of every partition."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Literal

from tidemill.errors import UsageError
from tidemill.kafka.admin import Admin
from tidemill.kafka.offsets import offsets_at, parse_time, watermarks
from tidemill.runtime.topics import read_topics
from tidemill.topology import Topology
from tidemill.topology.nodes import Kind
from tidemill.topology.nodes.source import OffsetReset, ResetPolicy

Time = int | datetime
"""Milliseconds since 1970, or a moment (UTC where it has no zone)."""

Place = Literal["earliest", "latest"] | Time | Mapping[int, int]
"""Where reading of one topic begins: an end of it, a time, or offsets by partition."""

Start = Literal["earliest", "latest"] | Time | Mapping[str, Place]
"""Where an app without state begins, for all topics or by topic; for the rest the reset policies speak."""

Until = Literal["now"] | str | Time | Mapping[str, Mapping[int, int]]
"""Where a bounded run ends: now, at a time, or before these offsets; text is what the command line takes."""

Offsets = dict[str, dict[int, int]]

_EARLIEST, _LATEST = -2, -1
"""Spark's words for both ends of a partition."""


def first_offsets(
    admin: Admin, topology: Topology, own: Collection[str], start: Start, reset: OffsetReset
) -> Offsets:
    """Where every partition begins; global tables are always read whole."""
    found: Offsets = {}
    for policy, topic in _streams(admin, topology, own, reset):
        place: Place | None = start.get(topic) if isinstance(start, Mapping) else start
        given = place if isinstance(place, Mapping) else {}
        partitions = [part.id for part in admin.topic(topic).partitions]
        _known(topic, given, partitions)
        if place is None and policy.policy is ResetPolicy.BY_DURATION:
            place = round(time.time() * 1000) - (policy.duration or 0)
        if isinstance(place, int | datetime):
            at = offsets_at(admin, [(topic, part) for part in partitions], milliseconds(place))
            found[topic] = {part: at[topic, part] for part in partitions}
        else:
            default = _end(place) if isinstance(place, str) else _by_policy(policy)
            found[topic] = {part: given.get(part, default) for part in partitions}
    _unknown(start, found)
    return found


def last_offsets(
    admin: Admin, topology: Topology, own: Collection[str], until: Until, *, committed_only: bool
) -> Offsets:
    """Where every partition ends; an end that is not there yet is refused.

    Also "now" is looked up once, so that a run that fails and is taken up again ends in the same place.
    """
    until = _places(until) if isinstance(until, str) else until
    policy = OffsetReset(ResetPolicy.EARLIEST)
    topics = [topic for _, topic in _streams(admin, topology, own, policy)]
    parts = [(topic, part.id) for topic in topics for part in admin.topic(topic).partitions]
    high = {key: marks.high for key, marks in watermarks(admin, parts, committed_only=committed_only).items()}
    if until == "now":
        found = high
    elif isinstance(until, Mapping):
        ends = {(topic, part): end for topic, ends in until.items() for part, end in ends.items()}
        for key, end in ends.items():
            if key not in high:
                raise UsageError(
                    f"the app does not read partition {key[1]} of topic `{key[0]}`, `until` names it",
                    where=admin.watch.where,
                    remedy=f"name partitions of {', '.join(topics)}",
                )
            if not 0 <= end <= high[key]:
                raise UsageError(
                    f"partition {key[1]} of topic `{key[0]}` ends at {high[key]}, `until` says {end}",
                    where=admin.watch.where,
                    remedy=f"give an offset from 0 to {high[key]}",
                )
        found = {**high, **ends}
    else:
        found = offsets_at(admin, parts, _moment(until))
        # A record of an open transaction may be at that time: it is not there yet.
        found = {key: min(end, high[key]) for key, end in found.items()}
    return _by_topic(found)


def milliseconds(moment: Time) -> int:
    """A time as milliseconds since 1970."""
    if isinstance(moment, datetime):
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    return moment


def _places(text: str) -> Until:
    """The command line's words for offsets, `orders:0=100,orders:1=50`, as offsets; others as they are."""
    parts = [_PLACE.fullmatch(part.strip()) for part in text.split(",")]
    if not all(parts):
        return text
    found: Offsets = {}
    for part in parts:
        assert part is not None
        found.setdefault(part["topic"], {})[int(part["partition"])] = int(part["offset"])
    return found


_PLACE = re.compile(r"(?P<topic>[A-Za-z0-9._-]+):(?P<partition>\d+)=(?P<offset>\d+)")


def _moment(until: str | Time) -> int:
    if isinstance(until, int | datetime):
        return milliseconds(until)
    try:
        return parse_time(until)
    except UsageError as error:
        raise UsageError(
            f"`{until}` is no end of a run",
            remedy='say "now", a time such as 2026-01-31T12:00, or offsets: {topic: {partition: offset}}, '
            "TOPIC:PARTITION=OFFSET,... on the command line",
        ) from error


def _streams(
    admin: Admin, topology: Topology, own: Collection[str], reset: OffsetReset
) -> Iterator[tuple[OffsetReset, str]]:
    """Topics that are not read whole anyway, each once, with the policy of the first node that reads it."""
    seen = set()
    for source in topology.sources:
        for topic in read_topics(admin, source, own):
            if source.kind is not Kind.GLOBAL_TABLE and topic not in seen and admin.exists(topic):
                seen.add(topic)
                yield source.offset_reset or reset, topic


def _by_policy(reset: OffsetReset) -> int:
    return _LATEST if reset.policy is ResetPolicy.LATEST else _EARLIEST


def _end(word: str) -> int:
    if word not in ("earliest", "latest"):
        raise UsageError(
            f"`{word}` is no place to begin",
            remedy='say "earliest", "latest", a datetime, milliseconds since 1970, or {partition: offset}',
        )
    return _LATEST if word == "latest" else _EARLIEST


def _known(topic: str, given: Mapping[int, int], partitions: list[int]) -> None:
    wrong = sorted(set(given) - set(partitions))
    if wrong:
        raise UsageError(
            f"topic `{topic}` has no partition {wrong[0]}, starting_offsets names it",
            remedy=f"name partitions 0 to {len(partitions) - 1}",
        )


def _unknown(start: Start, found: Offsets) -> None:
    wrong = sorted(set(start) - set(found)) if isinstance(start, Mapping) else []
    if wrong:
        raise UsageError(
            f"the app does not read topic `{wrong[0]}`, starting_offsets names it",
            remedy=f"name some of {', '.join(sorted(found))}",
        )


def _by_topic(offsets: Mapping[tuple[str, int], int]) -> Offsets:
    found: Offsets = {}
    for (topic, partition), offset in offsets.items():
        found.setdefault(topic, {})[partition] = offset
    return found
