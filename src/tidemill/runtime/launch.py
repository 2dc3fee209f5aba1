"""Everything between a configuration and a running query: lock, topics, checkpoint, Spark."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tidemill.engine.kafka import KafkaIn, KafkaOut
from tidemill.engine.lock import EngineLock
from tidemill.engine.query import QueryPlan, RunningQuery, Trigger, start_query
from tidemill.engine.session import spark_session
from tidemill.engine.steps import physical_plan
from tidemill.errors import TidemillError, UsageError
from tidemill.kafka.admin import Admin
from tidemill.kafka.groups import committed, committed_with_notes
from tidemill.runtime.begin import forget_begin, read_begin, refuse_unfinished_reset
from tidemill.runtime.checkpoint import Checkpoint, Note
from tidemill.runtime.config import AppConfig, Latency, MissingCheckpoint
from tidemill.runtime.group import GroupProgress
from tidemill.runtime.lock import InstanceLock, already_running
from tidemill.runtime.record import RunRecord
from tidemill.runtime.topics import check_sources, create_topics, marker_topic
from tidemill.runtime.upgrade import refuse_lost_state
from tidemill.topology import Topology
from tidemill.topology.nodes.source import ResetPolicy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ORPHAN_SECONDS = 30.0


class CheckpointMissingError(TidemillError):
    """Kafka knows how far the app was, but its state is not where it should be."""

    code = "CHECKPOINT_MISSING"


class Launch:
    """One start of an app: what is taken here is given back by `release`."""

    def __init__(
        self,
        config: AppConfig,
        topology: Topology,
        *,
        spark: SparkSession | None = None,
        starting: Mapping[str, Mapping[int, int]] | None = None,
    ) -> None:
        self.config = config
        self.topology = topology
        self.checkpoint = Checkpoint(config.folder, config.checkpoint)
        self.tasks = 0
        self._given = starting
        self._starting: Mapping[str, Mapping[int, int]] | None = None
        self._spark = spark
        self._lock = InstanceLock(config.folder)
        self.record = RunRecord(config, topology)
        self._engine_lock: EngineLock | None = None
        self.group: GroupProgress

    def prepare(self) -> None:
        """Take the locks, look at topics and state, start Spark; nothing is written before all is well."""
        config = self.config
        self._lock.acquire(config.application_id)
        self.record.begin()
        refuse_unfinished_reset(config.application_id, config.folder)
        admin = Admin(config.admin_settings())
        self.group = GroupProgress(admin, config.application_id)
        partitions = check_sources(admin, self.topology, config)
        earlier = self.checkpoint.read()
        # A task per topic partition, as in Kafka Streams: stream time of one does not move that of another.
        self.tasks = earlier.tasks if earlier else config.tasks or max(partitions, _slots(config.master))
        note = Note.of(self.topology, self.tasks)
        if earlier is not None:
            refuse_lost_state(earlier, note, self.checkpoint.folder)
        if config.exactly_once:
            self.checkpoint.verify(committed_with_notes(admin, marker_topic(config.application_id)).values())
        if not self._has_state(earlier):
            self._starting = self._first_offsets(admin)
        elif self._is_far:
            # Whether there is a batch yet only Spark can see; if so, it goes by that.
            self._starting = self._after_reset(admin, committed(admin, config.application_id))
        else:
            forget_begin(config.folder)
        create_topics(admin, self.topology, config, partitions=partitions, tasks=self.tasks)
        self._spark = self._spark or spark_session(
            self._master(partitions),
            name=config.application_id,
            conf={"spark.sql.streaming.checkpointLocation": config.checkpoint, **config.spark},
            log_file=self.checkpoint.log_file,
        )
        self._lock_engine()
        self.checkpoint.write(note)
        self.group.reached(self.checkpoint.committed())

    def start(self, *, bounded: bool = False) -> RunningQuery:
        """Start the query from where the checkpoint is."""
        assert self._spark is not None
        config = self.config
        reading = KafkaIn(
            client=config.consumer_client(),
            group_prefix=f"{config.application_id}-reader",
            reset=config.offset_reset,
            committed_only=config.exactly_once,
            max_offsets=None if config.latency is Latency.REALTIME else config.max_offsets_per_trigger,
            starting=self._starting,
        )
        client = config.producer_client()
        if config.latency is Latency.REALTIME:
            client.setdefault("linger.ms", "0")
        writing = KafkaOut(
            client=client,
            gate=f"{config.application_id}-{uuid.uuid4().hex[:8]}",
            transactional_prefix=config.application_id if config.exactly_once else "",
            markers=marker_topic(config.application_id) if config.exactly_once else "",
            handlers=config.handlers,
        )
        realtime = config.realtime_batch_ms if config.latency is Latency.REALTIME else None
        trigger = Trigger(config.commit_interval_ms, realtime, bounded)
        plan = QueryPlan(
            name=config.application_id,
            topology=self.topology,
            checkpoint=self.checkpoint.location,
            tasks=self.tasks,
            caching=config.caching,
            reading=reading,
            writing=writing,
            trigger=trigger,
        )
        return start_query(self._spark, plan)

    def release(self, error: TidemillError | None = None) -> None:
        """Give the locks back, and say what the end was."""
        if self._engine_lock is not None:
            with suppress(Exception):  # a JVM that is gone holds no lock
                self._engine_lock.release()
            self._engine_lock = None
        self.record.end(error)
        self._lock.release()

    @property
    def _is_far(self) -> bool:
        """Whether the checkpoint is where only Spark can look."""
        return "://" in self.checkpoint.location

    def _has_state(self, earlier: Note | None) -> bool:
        if self._is_far:
            return earlier is not None
        offsets = Path(self.checkpoint.location) / "offsets"
        return offsets.is_dir() and any(path.name.isdigit() for path in offsets.iterdir())

    def _first_offsets(self, admin: Admin) -> Mapping[str, Mapping[int, int]] | None:
        """Where to begin without a checkpoint: where a reset or the user says, else by the reset policy."""
        config = self.config
        known = committed(admin, config.application_id)
        begin = self._after_reset(admin, known)
        if begin is not None:
            return begin
        if self._given is not None:
            return {topic: self._complete(admin, topic, parts) for topic, parts in self._given.items()}
        if not known:
            self._refuse_none()
            return None
        if config.missing_checkpoint is MissingCheckpoint.FAIL:
            raise CheckpointMissingError(
                f"the group `{config.application_id}` has offsets, but the state directory has no state",
                where=self.checkpoint.location,
                remedy="point state.dir to the app's state, or reset the app; missing.checkpoint=group goes"
                " on at the group's offsets without state, missing.checkpoint=reset begins anew",
            )
        if config.missing_checkpoint is MissingCheckpoint.RESET:
            return None
        reached: dict[str, dict[int, int]] = {}
        for (topic, partition), offset in known.items():
            reached.setdefault(topic, {})[partition] = offset
        return {
            topic: self._complete(admin, topic, reached.get(topic, {}))
            for topic in self.topology.source_topics
        }

    def _after_reset(
        self, admin: Admin, known: Mapping[tuple[str, int], int]
    ) -> Mapping[str, Mapping[int, int]] | None:
        """Where a reset says to begin, None if there was none since the last batch."""
        begin = read_begin(self.config.folder, known)
        if begin is None:
            return None
        return {topic: self._complete(admin, topic, begin.get(topic, {})) for topic in self._topics(begin)}

    def _refuse_none(self) -> None:
        for source in self.topology.sources:
            if (source.offset_reset or self.config.offset_reset).policy is ResetPolicy.NONE:
                raise UsageError(
                    f"`{source.name}` has no position yet, and its reset policy is `none`",
                    remedy="give starting_offsets, or the policy earliest or latest",
                )

    def _topics(self, begin: Mapping[str, object]) -> list[str]:
        """What is read, of what a reset named: topics of a pattern are only there."""
        patterns = [source.pattern for source in self.topology.sources if source.pattern is not None]
        found = [topic for topic in begin if any(re.fullmatch(pattern, topic) for pattern in patterns)]
        return list(dict.fromkeys([*self.topology.source_topics, *found]))

    def _complete(self, admin: Admin, topic: str, given: Mapping[int, int]) -> dict[int, int]:
        """Offsets for every partition; -1 is the end and -2 the beginning in Spark's language."""
        default = -1 if self.config.offset_reset.policy is ResetPolicy.LATEST else -2
        return {part.id: given.get(part.id, default) for part in admin.topic(topic).partitions}

    def _lock_engine(self) -> None:
        assert self._spark is not None
        path = self.checkpoint.engine_lock
        self._engine_lock = EngineLock.acquire(self._spark, path, _ORPHAN_SECONDS)
        if self._engine_lock is None:
            raise already_running(self.config.application_id, self.config.folder, "")

    def _master(self, partitions: int) -> str:
        config = self.config
        if config.latency is Latency.REALTIME and config.master.startswith("local"):
            # In real-time mode every task of every level runs at the same time.
            return f"local[{partitions + self.tasks * physical_plan(self.topology).depth + 1}]"
        return config.master


def _slots(master: str) -> int:
    inside = master.partition("[")[2].partition("]")[0].partition(",")[0]
    cores = os.cpu_count() or 2
    if not master.startswith("local"):
        return 2 * cores
    return int(inside) if inside.isdigit() else cores if inside == "*" else 1
