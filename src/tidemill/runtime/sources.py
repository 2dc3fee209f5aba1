"""An app's source topics as time goes by: deleted, created again, grown."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tidemill.engine.failures import OffsetsLostError
from tidemill.errors import NotFound, Unreachable
from tidemill.kafka.admin import Admin, Topic
from tidemill.kafka.offsets import watermarks
from tidemill.runtime.checkpoint import Offsets
from tidemill.runtime.config import AppConfig, OffsetsLost
from tidemill.runtime.topics import check_sources, own_topics, read_topics
from tidemill.topology import Topology

log = logging.getLogger(__name__)

_LOOK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Seen:
    """The topics now, against what was noted of them."""

    topics: Mapping[str, Any]
    """For the note: id and numbers of partitions."""
    recreated: tuple[str, ...]
    """Topics that are not the ones that were read."""

    @property
    def partitions(self) -> dict[str, int]:
        """How many partitions each topic has."""
        return {topic: noted["partitions"][-1] for topic, noted in self.topics.items()}

    @property
    def grown(self) -> dict[str, list[int]]:
        """Topics whose number of partitions has changed since the first start, with all of the numbers."""
        return {
            topic: list(noted["partitions"])
            for topic, noted in self.topics.items()
            if len(noted["partitions"]) > 1
        }


class Sources:
    """Looks at the source topics of one app."""

    def __init__(self, admin: Admin, topology: Topology, config: AppConfig) -> None:
        self._admin = admin
        self._topology = topology
        self._config = config
        self._ids: dict[str, str] = {}
        self._looked = time.monotonic()

    def look(self, noted: Mapping[str, Any]) -> Seen:
        """What has become of the topics; one that is missing is told."""
        check_sources(self._admin, self._topology, self._config)
        topics = {topic.name: topic for topic in self._described()}
        self._ids = {name: topic.id for name, topic in topics.items()}
        recreated = tuple(
            name for name, topic in topics.items() if noted.get(name, {}).get("id", topic.id) != topic.id
        )
        return Seen({**noted, **{n: _noted(t, noted.get(n)) for n, t in topics.items()}}, recreated)

    def refuse_lost(self, seen: Seen, positions: Offsets) -> None:
        """Refuse topics that were created again, unless the policy says what to do about them."""
        if self._config.offsets_lost is OffsetsLost.FAIL and seen.recreated:
            raise self.lost(seen.recreated, positions)

    def lost(self, topics: tuple[str, ...], positions: Offsets) -> OffsetsLostError:
        """What to say about topics that were created again."""
        parts = [key for key in positions if key[0] in topics]
        parts = [key for key in parts if key[1] < len(self._admin.topic(key[0]).partitions)]
        marks = watermarks(self._admin, parts)
        told = [
            f"topic `{topic}` partition {part}: wanted offset {positions[topic, part]}, "
            f"available are {marks[topic, part].low} to {marks[topic, part].high}"
            for topic, part in parts
        ]
        names = ", ".join(f"`{topic}`" for topic in topics)
        return OffsetsLostError(
            f"{names} was deleted and created again since it was read: " + ("; ".join(told) or "all is gone"),
            where=self._admin.watch.where,
            remedy="offsets.lost=earliest reads the new topic from its beginning, latest from its end; "
            "a reset begins anew",
        )

    def gone(self, positions: Offsets) -> str:
        """Which of these offsets are not there any more, and what is."""
        parts = [key for key in positions if self._admin.exists(key[0])]
        return "; ".join(
            f"topic `{topic}` partition {part}: wanted offset {positions[topic, part]}, "
            f"available are {marks.low} to {marks.high}"
            for (topic, part), marks in watermarks(self._admin, parts).items()
            if not marks.low <= positions[topic, part] <= marks.high
        )

    def check(self, positions: Callable[[], Offsets]) -> None:
        """Every few seconds, raise if a topic is gone or is not the one the query began with."""
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        try:
            now = {topic.name: topic.id for topic in self._described()}
            if not self._ids.keys() <= now.keys():
                check_sources(self._admin, self._topology, self._config)
        except Unreachable as error:
            log.debug("the source topics were not looked at: %s", error)
            return
        changed = tuple(name for name, id_ in now.items() if self._ids.get(name, id_) != id_)
        if changed:
            raise self.lost(changed, positions())

    def _described(self) -> list[Topic]:
        own = own_topics(self._topology, self._config.application_id)
        names = dict.fromkeys(
            topic for source in self._topology.sources for topic in read_topics(self._admin, source, own)
        )
        try:
            return self._admin.describe(list(names))
        except NotFound:
            return [self._admin.topic(name) for name in names if self._admin.exists(name)]


def _noted(topic: Topic, before: Mapping[str, Any] | None) -> dict[str, Any]:
    counts = list(before["partitions"]) if before else []
    if not counts or counts[-1] != len(topic.partitions):
        counts.append(len(topic.partitions))
    return {"id": topic.id, "partitions": counts}
