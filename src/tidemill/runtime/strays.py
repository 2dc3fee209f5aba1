"""A look at topics whose records are to meet: are keys where Kafka's own partitioner puts them?"""

from __future__ import annotations

import time
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaError, TopicPartition

from tidemill.kafka.admin import Admin
from tidemill.kafka.clients import consumer_config
from tidemill.kafka.offsets import watermarks
from tidemill.kafka.partitioner import partition_of
from tidemill.kafka.settings import Settings

_PER_PARTITION = 50
_SECONDS = 3.0


def find_stray(admin: Admin, settings: Settings, topics: Mapping[str, int]) -> str | None:
    """A record that is not at home, told in words, among the first of every partition.

    `topics` are given with their numbers of partitions. What is found decides how an app begins; what comes
    later is checked when it is read.
    """
    marks = watermarks(admin, [(topic, part) for topic, count in topics.items() for part in range(count)])
    waiting = {
        key: min(mark.high - mark.low, _PER_PARTITION) for key, mark in marks.items() if mark.high > mark.low
    }
    if not waiting:
        return None
    reader = Consumer(consumer_config(settings))
    try:
        reader.assign([TopicPartition(topic, part, marks[topic, part].low) for topic, part in waiting])
        return _first_stray(reader, topics, waiting)
    finally:
        reader.close()


def _first_stray(
    reader: Consumer, topics: Mapping[str, int], waiting: dict[tuple[str, int], int]
) -> str | None:
    deadline = time.monotonic() + _SECONDS
    while waiting and time.monotonic() < deadline:
        for message in reader.consume(500, timeout=0.5):
            topic, part, offset = str(message.topic()), int(message.partition() or 0), message.offset()
            error = message.error()
            if error is not None and error.code() != KafkaError._PARTITION_EOF:
                return None  # the query will meet the same error, and tell it better
            if error is not None:
                waiting.pop((topic, part), None)
                continue
            if (key := message.key()) is not None:
                home = partition_of(_bytes(key), topics[topic])
                if home != part:
                    return _told(topic, part, offset, home)
            left = waiting.get((topic, part), 0) - 1
            waiting[topic, part] = left
            if left <= 0:
                waiting.pop((topic, part))
    return None


def _told(topic: str, part: int, offset: int | None, home: int) -> str:
    place = f"topic `{topic}` partition {part} offset {offset}"
    return f"the key of the record at {place} belongs into partition {home}"


def _bytes(key: str | bytes) -> bytes:
    return key.encode() if isinstance(key, str) else key
