"""Progress as a consumer group: every Kafka tool sees how far the app is, and never further than it is."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any

from tidemill.errors import TidemillError
from tidemill.kafka.admin import Admin
from tidemill.kafka.groups import GroupCommitter
from tidemill.runtime.checkpoint import Offsets, merge_lowest

log = logging.getLogger(__name__)

_REFRESH_SECONDS = 3600.0


class GroupProgress:
    """Commits the ends of finished batches to the group named by the application id.

    Spark's checkpoint is what the app itself goes by, so a commit that fails is only told in the log and made
    up for by the next one.
    """

    def __init__(self, admin: Admin, group: str) -> None:
        self._admin = admin
        self._group = group
        self._committer: GroupCommitter | None = None
        self._done: Offsets = {}
        self._wanted: Offsets = {}
        self._told = time.monotonic()

    def finished(self, reports: Iterable[Mapping[str, Any]]) -> None:
        """Take note of Spark's reports on finished batches, oldest first."""
        for report in reports:
            ends: Offsets = {}
            for source in report.get("sources", ()):
                if isinstance(source.get("endOffset"), Mapping):
                    merge_lowest(ends, source["endOffset"])
            self.reached(ends)

    def reached(self, ends: Offsets) -> None:
        """Take note of the ends of a finished batch."""
        self._wanted.update(ends)

    def commit(self) -> None:
        """Tell Kafka what has changed since the last time."""
        if time.monotonic() - self._told > _REFRESH_SECONDS:
            self._done = {}  # brokers forget what was told them long ago, as of an app that has nothing to do
        changed = {part: offset for part, offset in self._wanted.items() if self._done.get(part) != offset}
        if not changed:
            return
        try:
            if self._committer is None:
                self._committer = GroupCommitter(self._admin, self._group)
            self._committer.commit(changed)
        except TidemillError as error:
            log.warning("the progress of %s was not committed: %s", self._group, error)
        else:
            self._done.update(changed)
            self._told = time.monotonic()
