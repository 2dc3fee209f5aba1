"""Reading records from topics: from any place, to any end, with or without a group."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tidemill.errors import NotFound
from tidemill.kafka.admin import Admin
from tidemill.kafka.clients import Watch, open_consumer
from tidemill.kafka.errors import Subject, error_code
from tidemill.kafka.offsets import Range, TopicPartition, offsets_at, watermarks
from tidemill.kafka.records import Record
from tidemill.kafka.settings import Settings

_BATCH = 500
# Brokers may restart under a reader; after this long it is found out whether they are back.
_PATIENCE = 10.0


@dataclass(frozen=True)
class Reading:
    """What to read and when to stop."""

    topics: Sequence[str]
    start: Range
    partitions: Sequence[int] = ()
    count: int | None = None
    stop_at_end: bool = False
    idle_timeout: float | None = None
    group: str | None = None


def read(reading: Reading, settings: Settings, *, verbose: bool = False) -> Generator[Record]:
    """Records in the order they arrive; closing the iterator leaves the group cleanly."""
    settings = Settings.of({"auto.offset.reset": _reset(reading.start)}, source="default").over(settings)
    admin = Admin(settings, verbose=verbose)
    known = admin.describe(reading.topics)
    consumer, watch = open_consumer(settings, group=reading.group, verbose=verbose)
    try:
        if reading.group is None:
            starts, ends = _plan(reading, admin, _partitions(reading, known, admin), settings)
            _assign(consumer, starts)
            remaining = {key: end for key, end in ends.items() if end > starts[key]}
            if ends and not remaining:
                return
        else:
            consumer.subscribe(list(reading.topics))
            remaining = {}
        yield from _loop(reading, consumer, watch, admin, remaining)
    finally:
        consumer.close()


def _loop(
    reading: Reading, consumer: Any, watch: Watch, admin: Admin, remaining: dict[TopicPartition, int]
) -> Iterator[Record]:
    until = reading.start.until_ms
    bounded = bool(remaining)
    finished: set[TopicPartition] = set()
    seen, heard = 0, time.monotonic()
    while reading.count is None or seen < reading.count:
        size = _BATCH if reading.count is None else min(_BATCH, reading.count - seen)
        messages = consumer.consume(size, timeout=0.1)
        if messages:
            heard = time.monotonic()
            watch.alive()
        elif reading.idle_timeout is not None and time.monotonic() - heard > reading.idle_timeout:
            return
        watch.check_login()
        if watch.down_for(_PATIENCE):
            admin.cluster()
            watch.alive()
        for message in messages:
            key = (message.topic(), message.partition())
            if message.error() is not None:
                if error_code(message.error()) != "_PARTITION_EOF":
                    raise watch.error(
                        message.error(), Subject("topic", message.topic() or ", ".join(reading.topics))
                    )
                finished.add(key)
                if bounded and message.offset() >= remaining.get(key, 0):
                    remaining.pop(key, None)
                continue
            if bounded and key not in remaining:
                continue
            finished.discard(key)
            record = _record(message)
            if until is None or (record.timestamp or 0) < until:
                yield record
                seen += 1
            if reading.group is not None:
                _store(consumer, message)
            if bounded and record.offset + 1 >= remaining[key]:
                del remaining[key]
        if bounded and not remaining:
            return
        if reading.stop_at_end and not bounded and finished and not messages:
            assigned = {(part.topic, part.partition) for part in consumer.assignment()}
            if assigned and assigned <= finished:
                return


def _store(consumer: Any, message: Any) -> None:
    """Let the group go on after this record: stored once it was dealt with, so that none is skipped."""
    from confluent_kafka import KafkaException

    with contextlib.suppress(KafkaException):  # the partition has gone to another member meanwhile
        consumer.store_offsets(message=message)


def _partitions(reading: Reading, known: Sequence[Any], admin: Admin) -> list[TopicPartition]:
    wanted: list[TopicPartition] = []
    for topic in known:
        existing = {partition.id for partition in topic.partitions}
        for partition in reading.partitions:
            if partition not in existing:
                raise NotFound(
                    f"topic `{topic.name}` has no partition {partition}; it has {len(existing)}",
                    where=admin.watch.where,
                    remedy=f"choose one of 0..{len(existing) - 1}",
                )
        wanted += [(topic.name, partition) for partition in (reading.partitions or sorted(existing))]
    return wanted


def _plan(
    reading: Reading, admin: Admin, partitions: list[TopicPartition], settings: Settings
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    """Start offsets of all partitions, and end offsets if the reading has an end."""
    committed_only = settings.get("isolation.level", "read_committed") != "read_uncommitted"
    marks = watermarks(admin, partitions, committed_only=committed_only)
    start = reading.start
    at = offsets_at(admin, partitions, start.number) if start.place == "time" else {}
    starts: dict[TopicPartition, int] = {}
    for key, mark in marks.items():
        match start.place:
            case "end":
                starts[key] = mark.high
            case "offset":
                starts[key] = mark.clip(start.number)
            case "tail":
                starts[key] = mark.clip(mark.high - start.number)
            case "time":
                starts[key] = at[key]
            case _:
                starts[key] = mark.low
    if start.until_ms is not None:
        return starts, offsets_at(admin, partitions, start.until_ms)
    return starts, {key: mark.high for key, mark in marks.items()} if reading.stop_at_end else {}


def _assign(consumer: Any, starts: dict[TopicPartition, int]) -> None:
    from confluent_kafka import TopicPartition as ClientPartition

    consumer.assign([ClientPartition(topic, part, offset) for (topic, part), offset in starts.items()])


def _reset(start: Range) -> str:
    return "earliest" if start.place in {"beginning", "stored"} else "latest"


def _record(message: Any) -> Record:
    kind, timestamp = message.timestamp()
    return Record(
        value=message.value(),
        key=message.key(),
        headers=[(name, value) for name, value in (message.headers() or [])],
        timestamp=timestamp if kind else None,
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
    )
