"""Lag as it is now, not as it was when a batch began: in records, and in seconds."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from tidemill.errors import TidemillError
from tidemill.kafka.admin import Admin
from tidemill.kafka.clients import consumer_config
from tidemill.kafka.offsets import watermarks
from tidemill.runtime.checkpoint import Offsets

log = logging.getLogger(__name__)

_LOOK_SECONDS = 0.5


class LagProbe:
    """Asks Kafka now and then how much there is to read, and how old the first record is that was not read.

    Reports on batches cannot tell this: an app that hangs makes none.
    """

    def __init__(self, admin: Admin, *, interval: float, committed_only: bool) -> None:
        self._admin = admin
        self._interval = interval
        self._committed_only = committed_only
        self._first: dict[tuple[str, int], tuple[int, int]] = {}
        self._stop = threading.Event()
        self._consumer: Any = None

    def start(self, position: Callable[[], Offsets], told: Callable[[Offsets], None]) -> None:
        """Begin to ask, in a thread of its own: an answer may take long."""
        self._stop.clear()
        target = self._live
        threading.Thread(target=target, args=(position, told), name="tidemill-lag", daemon=True).start()

    def stop(self) -> None:
        """Ask no more."""
        self._stop.set()

    def seconds(self, topic: str, partition: int, position: int | None, lag: int) -> float | None:
        """How long the first unread record has been waiting; None while that is not known."""
        if lag == 0:
            return 0.0
        found = self._first.get((topic, partition))
        if found is None or position is None or found[0] > position:
            return None
        return round(max(0.0, time.time() - found[1] / 1000), 3)

    def look(self, position: Offsets) -> Offsets:
        """Ask once; returns the ends."""
        parts = list(position)
        ends = {
            part: marks.high
            for part, marks in watermarks(self._admin, parts, committed_only=self._committed_only).items()
        }
        behind = {part: position[part] for part in parts if ends[part] > position[part]}
        self._first = self._times(behind)
        return ends

    def _live(self, position: Callable[[], Offsets], told: Callable[[Offsets], None]) -> None:
        due = 0.0
        try:
            while not self._stop.wait(_LOOK_SECONDS):
                if time.monotonic() < due:
                    continue
                try:
                    told(self.look(position()))
                except TidemillError as error:
                    log.debug("how far the app is behind cannot be found out: %s", error)
                due = time.monotonic() + self._interval
        finally:
            if self._consumer is not None:
                self._consumer.close()
                self._consumer = None

    def _times(self, behind: Offsets) -> dict[tuple[str, int], tuple[int, int]]:
        """The offset and the timestamp of the first unread record of each partition."""
        known = {
            part: self._first[part] for part in behind if self._first.get(part, (-1,))[0] == behind[part]
        }
        wanted = {part: offset for part, offset in behind.items() if part not in known}
        if not wanted:
            return known
        from confluent_kafka import TopicPartition

        consumer = self._consumer or self._open()
        consumer.assign([TopicPartition(topic, part, offset) for (topic, part), offset in wanted.items()])
        deadline = time.monotonic() + 2.0
        while len(known) < len(behind) and time.monotonic() < deadline and not self._stop.is_set():
            message = consumer.poll(0.2)
            if message is None or message.error():
                continue
            part = (message.topic(), message.partition())
            if part in wanted and part not in known:
                known[part] = (wanted[part], message.timestamp()[1])
                consumer.pause([TopicPartition(*part)])
        consumer.unassign()
        return known

    def _open(self) -> Any:
        from confluent_kafka import Consumer

        config = consumer_config(self._admin.settings)
        own = {
            "isolation.level": "read_committed" if self._committed_only else "read_uncommitted",
            "auto.offset.reset": "earliest",
            # One record of each partition is wanted, not all there are.
            "fetch.message.max.bytes": 65536,
            "queued.min.messages": 1,
            "queued.max.messages.kbytes": 256,
        }
        self._consumer = Consumer({**config, **own})
        return self._consumer
