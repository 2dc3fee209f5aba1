"""Everything between a configuration and a running query: lock, topics, checkpoint, Spark."""

from __future__ import annotations

import logging
import os
import re
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from tidemill.engine.copartitioning import CoPartitioning
from tidemill.engine.failures import (
    FencedError,
    KeysMisplacedError,
    OffsetsLostError,
    RecordsSkippedError,
    TransactionEndedError,
)
from tidemill.engine.kafka import KafkaIn, KafkaOut
from tidemill.engine.lock import EngineLock
from tidemill.engine.query import QueryPlan, RunningQuery, Trigger, start_query
from tidemill.engine.realtime import refuse_few_slots, slots_needed
from tidemill.engine.session import allow_urls, allowing, spark_session
from tidemill.engine.stateless import is_stateless
from tidemill.engine.steps import (
    keeping_pace,
    meeting_topics,
    physical_plan,
    placed_by_partition,
)
from tidemill.errors import NotFound, TidemillError, UsageError
from tidemill.kafka.admin import Admin
from tidemill.kafka.groups import committed, committed_with_notes
from tidemill.runtime.begin import forget_begin, read_begin, refuse_unfinished_reset
from tidemill.runtime.checkpoint import Checkpoint, Note
from tidemill.runtime.claim import InstanceClaim
from tidemill.runtime.config import AppConfig, Latency, MissingCheckpoint, MissingMarkers, OffsetsLost
from tidemill.runtime.group import GroupProgress
from tidemill.runtime.lag import LagProbe
from tidemill.runtime.lock import InstanceLock, already_running
from tidemill.runtime.positions import Start, Until, first_offsets, last_offsets
from tidemill.runtime.record import RunRecord
from tidemill.runtime.sources import Seen, Sources
from tidemill.runtime.strays import find_stray
from tidemill.runtime.topics import (
    check_sources,
    chosen_partitions,
    create_topics,
    marker_topic,
    own_topics,
    read_topics,
)
from tidemill.runtime.upgrade import refuse_lost_state
from tidemill.topology import Topology
from tidemill.topology.changelogs import with_changelogs
from tidemill.topology.nodes import Kind
from tidemill.topology.nodes.source import ResetPolicy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_ORPHAN_SECONDS = 30.0
_LAG_SECONDS = 10.0


class CheckpointMissingError(TidemillError):
    """Kafka knows how far the app was, but its state is not where it should be."""

    code = "CHECKPOINT_MISSING"


class MarkersGoneError(TidemillError):
    """Kafka has forgotten which parts of a batch were written before the app ended."""

    code = "MARKERS_GONE"


class Launch:
    """One start of an app: what is taken here is given back by `release`."""

    def __init__(
        self,
        config: AppConfig,
        topology: Topology,
        *,
        spark: SparkSession | None = None,
        starting: Start | None = None,
    ) -> None:
        self.config = config
        self.topology = topology
        self.checkpoint = Checkpoint(config.folder, config.checkpoint)
        self.tasks = 0
        self._own = own_topics(topology, config.application_id)
        self._meeting = set() if is_stateless(topology) else meeting_topics(topology)
        self._given = starting
        self._starting: Mapping[str, Mapping[int, int]] | None = None
        self._until: Mapping[str, Mapping[int, int]] | None = None
        self._partitions: Mapping[str, int] = {}
        self._spark = spark
        self._gate = f"{config.application_id}-{uuid.uuid4().hex[:8]}"
        self._unwritten: Note | None = None
        self._lock = InstanceLock(config.folder)
        self.record = RunRecord(config, topology)
        self._engine_lock: EngineLock | None = None
        self._claim: InstanceClaim | None = None
        self._sources: Sources
        self.group: GroupProgress
        self.lag: LagProbe

    def stores_by_level(self) -> dict[int, list[str]]:
        """Which stores each stateful operator keeps."""
        found: dict[int, list[str]] = {}
        for store, level in sorted(Note.of(self.topology, 1).levels.items()):
            found.setdefault(level, []).append(store)
        return found

    def prepare(self, until: Until | None = None) -> None:
        """Take the locks, look at topics and state, start Spark; nothing is written before all is well."""
        config = self.config
        self._starting = self._until = None
        self._lock.acquire(config.application_id)
        self.record.begin()
        refuse_unfinished_reset(config.application_id, config.folder)
        admin = Admin(config.admin_settings())
        self.group = GroupProgress(admin, config.application_id)
        self._sources = Sources(admin, self.topology, config)
        self.lag = LagProbe(admin, interval=_LAG_SECONDS, committed_only=config.exactly_once)
        partitions = check_sources(admin, self.topology, config)
        earlier = self.checkpoint.read()
        # A task per topic partition, as in Kafka Streams: stream time of one does not move that of another.
        self.tasks = earlier.tasks if earlier else config.tasks or max(partitions, _slots(config.master))
        self._claim = InstanceClaim(config, admin)
        self._claim.wait_until_free()
        note = Note.of(self.topology, self.tasks, earlier.topics if earlier else {})
        note = replace(note, strays=earlier.strays if earlier else None)
        if earlier is not None:
            refuse_lost_state(earlier, note, self.checkpoint.folder)
        if config.exactly_once:
            self.checkpoint.verify(committed_with_notes(admin, marker_topic(config.application_id)).values())
        if not self._has_state(earlier):
            self._starting = self._first_offsets(admin)
            note = replace(note, topics={}, strays=None)
        elif self._is_far:
            # Whether there is a batch yet only Spark can see; if so, it goes by that.
            self._starting = self._after_reset(admin, committed(admin, config.application_id))
        else:
            forget_begin(config.folder)
        self._refuse_forgotten(self._claim)
        if until is not None:
            self._until = last_offsets(
                admin, self.topology, self._own, until, committed_only=config.exactly_once
            )
        create_topics(admin, self.topology, config, partitions=partitions, tasks=self.tasks)
        self._partitions = chosen_partitions(admin, self.topology)
        self._spark = self._spark or spark_session(
            self._master(admin),
            name=config.application_id,
            conf={
                "spark.sql.streaming.checkpointLocation": config.checkpoint,
                **allowing(config.consumer_client()),
                **config.spark,
            },
            log_file=self.checkpoint.log_file,
        )
        allow_urls(self._spark, config.consumer_client())
        if config.latency is Latency.REALTIME:
            refuse_few_slots(self._spark, self._slots_at_once(admin))
        self._lock_engine()
        self._claim.take(self._spark, self._gate)
        self._note = note
        self.checkpoint.write(note)
        if not self._has_state(earlier) and config.co_partitioning is CoPartitioning.CHECKED:
            self._look_for_strays(admin)
        self.group.reached(self.checkpoint.committed())

    def start(self, *, bounded: bool = False) -> RunningQuery:
        """Start the query from where the checkpoint is."""
        assert self._spark is not None
        assert self._claim is not None
        config = self.config
        if self._claim.failure() is not None:
            self._claim.release()
            self._claim.wait_until_free()
            self._claim.take(self._spark, self._gate)
        seen = self._look_at_sources()
        by_partition = {
            topic
            for source in ([] if is_stateless(self.topology) else placed_by_partition(self.topology))
            for topic in seen.partitions
            if topic in source.topics or (source.pattern and re.fullmatch(source.pattern, topic))
        }
        met = {topic: noted["partitions"] for topic, noted in seen.topics.items() if topic in self._meeting}
        way = self._way(met)
        in_place = way is not CoPartitioning.SHUFFLE
        if in_place:
            by_partition |= met.keys()
        reading = KafkaIn(
            client=config.consumer_client(),
            group_prefix=f"{config.application_id}-reader",
            reset=config.offset_reset,
            committed_only=config.exactly_once,
            max_offsets=config.max_offsets_per_trigger,
            target_ms=config.batch_target_ms,
            gate=self._gate,
            starting=self._starting,
            until=self._until if bounded else None,
            lost=config.offsets_lost,
            recreated=seen.recreated,
            planned={topic: count for topic, count in seen.partitions.items() if topic in by_partition},
            align="none" if is_stateless(self.topology) else keeping_pace(self.topology, in_place=in_place),
            own=self._own,
        )
        writing = KafkaOut(
            client=config.producer_client(),
            gate=self._gate,
            layout="in place" if in_place else "",
            transactional_prefix=config.application_id if config.exactly_once else "",
            markers=marker_topic(config.application_id) if config.exactly_once else "",
            handlers=config.handlers,
            partitions=self._partitions,
        )
        realtime = config.realtime_batch_ms if config.latency is Latency.REALTIME else None
        trigger = Trigger(config.commit_interval_ms, realtime, bounded)
        plan = QueryPlan(
            name=config.application_id,
            topology=with_changelogs(self.topology, config.application_id),
            checkpoint=self.checkpoint.location,
            tasks=self.tasks,
            caching=config.caching,
            reading=reading,
            writing=writing,
            trigger=trigger,
            grown={topic: counts for topic, counts in seen.grown.items() if topic in by_partition},
            meeting_in={topic: counts[0] for topic, counts in met.items()},
            co_partitioning=way,
            lone_partitions=self._has_lone_partitions(seen),
        )
        self.checkpoint.starts()
        return start_query(self._spark, plan)

    def adapts_to(self, error: TidemillError) -> bool:
        """Whether an error is none any more once the query is planned in another way."""
        if not isinstance(error, KeysMisplacedError) or self._note.strays is not None:
            return False
        self._goes_astray(error.what)
        return True

    def check(self) -> None:
        """Raise what has happened outside the query: another instance, a topic that is another one now."""
        if self._claim is not None and (error := self._claim.failure()) is not None:
            raise error
        self._sources.check(self.checkpoint.committed)

    def progressed(self) -> None:
        """A batch is done: what was found on start holds from now on."""
        if self._unwritten is not None:
            self.checkpoint.write(self._unwritten)
            self._unwritten = None

    def judge(self, error: TidemillError) -> TidemillError:
        """The same error, or what it means in the light of things a query cannot see."""
        config = self.config
        if isinstance(error, FencedError) and self._claim is not None and self._claim.is_ours():
            return TransactionEndedError(
                f"Kafka ended a transaction that took too long: {error.what}",
                remedy="raise transaction.timeout.ms, or lower max.offsets.per.trigger",
            )
        if isinstance(error, OffsetsLostError) and config.offsets_lost is not OffsetsLost.FAIL:
            return RecordsSkippedError(
                error.what, remedy=f"offsets.lost={config.offsets_lost}: the app goes on"
            )
        if isinstance(error, OffsetsLostError) and "available" not in error.what:
            told = self._sources.gone(self.checkpoint.committed())
            error.what = f"{error.what}; {told}" if told else error.what
        if isinstance(error, NotFound) and "`" not in error.what:
            # Kafka does not always say which topic it is that it does not have.
            try:
                check_sources(Admin(config.admin_settings()), self.topology, config)
            except NotFound as named:
                return named
        return error

    def release(self, error: TidemillError | None = None, *, clean: bool = False) -> None:
        """Give the locks back, and say what the end was; `clean` means that no batch was broken off."""
        if clean:
            with suppress(OSError):  # a disk that is full must not keep an app from stopping
                self.checkpoint.stopped()
        if self._claim is not None:
            self._claim.release()
            self._claim = None
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
        return self.checkpoint.has_offsets()

    def _look_at_sources(self) -> Seen:
        seen = self._sources.look(self._note.topics)
        self._sources.refuse_lost(seen, self.checkpoint.committed())
        if seen.topics != self._note.topics:
            self._note = replace(self._note, topics=seen.topics)
            if seen.recreated:
                # Until the first batch is done the old topics must not be forgotten.
                self._unwritten = self._note
            else:
                self.checkpoint.write(self._note)
        return seen

    def _has_lone_partitions(self, seen: Seen) -> bool:
        """Whether every task reads one partition at most, now and until the next start."""
        may_grow = any(source.pattern for source in self.topology.sources)
        return len(seen.partitions) == 1 and max(seen.partitions.values()) <= self.tasks and not may_grow

    def _way(self, met: Mapping[str, Sequence[int]]) -> CoPartitioning:
        """How topics meet: as configured, unless a stray was found, or partitions were added."""
        grown = any(len(counts) > 1 for counts in met.values())
        if grown and self.config.co_partitioning is CoPartitioning.TRUSTED:
            raise UsageError(
                f"one of {', '.join(sorted(met))} got more partitions: who chooses them in a way of his own"
                " puts keys elsewhere now, and their state cannot be found",
                remedy="reset the app",
            )
        checked = self.config.co_partitioning is CoPartitioning.CHECKED
        if not met or grown or (checked and self._note.strays is not None):
            return CoPartitioning.SHUFFLE
        return self.config.co_partitioning

    def _look_for_strays(self, admin: Admin) -> None:
        counts = {topic: len(admin.topic(topic).partitions) for topic in self._meeting}
        told = find_stray(admin, self.config.admin_settings(), counts)
        if told is not None:
            self._goes_astray(told)

    def _goes_astray(self, told: str) -> None:
        """From now on topics meet by a shuffle."""
        log.warning(
            "%s by Kafka's own partitioner: records are brought together by key from now on, which costs"
            " time; producers with partitioner=murmur2_random spare it",
            told,
        )
        self._note = replace(self._note, strays=told)
        self.checkpoint.write(self._note)

    def _refuse_forgotten(self, claim: InstanceClaim) -> None:
        """Refuse to do a batch again of which nobody knows how much was written."""
        config, batch = self.config, self.checkpoint.begun()
        if not config.exactly_once or batch is None or config.missing_markers is MissingMarkers.REPLAY:
            return
        if not self.checkpoint.is_untouched(batch) and not claim.was_ever_held():
            raise MarkersGoneError(
                f"batch {batch} was in work when the app ended, and Kafka has forgotten what it wrote",
                where=f"group {marker_topic(config.application_id)}",
                remedy="start a stopped app within offsets.retention.minutes of the brokers (7 days);"
                " missing.markers=replay writes the batch again, some of it perhaps twice",
            )

    def _first_offsets(self, admin: Admin) -> Mapping[str, Mapping[int, int]] | None:
        """Where to begin without a checkpoint: where a reset or the user says, else by the reset policy."""
        config = self.config
        known = committed(admin, config.application_id)
        begin = self._after_reset(admin, known)
        if begin is not None:
            return begin
        if self._given is not None:
            return self._begin(admin, self._given)
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
        return self._begin(admin, self._only_read(admin, reached))

    def _only_read(
        self, admin: Admin, offsets: Mapping[str, Mapping[int, int]]
    ) -> dict[str, Mapping[int, int]]:
        """Offsets of topics the app still reads, and does not read whole anyway."""
        read = {
            topic
            for source in self.topology.sources
            for topic in read_topics(admin, source, self._own)
            if source.kind is not Kind.GLOBAL_TABLE
        }
        return {topic: parts for topic, parts in offsets.items() if topic in read}

    def _begin(self, admin: Admin, start: Start) -> Mapping[str, Mapping[int, int]]:
        return first_offsets(admin, self.topology, self._own, start, self.config.offset_reset)

    def _after_reset(
        self, admin: Admin, known: Mapping[tuple[str, int], int]
    ) -> Mapping[str, Mapping[int, int]] | None:
        """Where a reset says to begin, None if there was none since the last batch."""
        begin = read_begin(self.config.folder, known)
        if begin is None:
            return None
        return self._begin(admin, self._only_read(admin, begin))

    def _refuse_none(self) -> None:
        for source in self.topology.sources:
            if (source.offset_reset or self.config.offset_reset).policy is ResetPolicy.NONE:
                raise UsageError(
                    f"`{source.name}` has no position yet, and its reset policy is `none`",
                    remedy="give starting_offsets, or the policy earliest or latest",
                )

    def _lock_engine(self) -> None:
        assert self._spark is not None
        path = self.checkpoint.engine_lock
        self._engine_lock = EngineLock.acquire(self._spark, path, _ORPHAN_SECONDS)
        if self._engine_lock is None:
            raise already_running(self.config.application_id, self.config.folder, "")

    def _master(self, admin: Admin) -> str:
        config = self.config
        if config.latency is Latency.REALTIME and config.master.startswith("local"):
            return f"local[{self._slots_at_once(admin) + 1}]"
        return with_slots(config.master, self.tasks)

    def _slots_at_once(self, admin: Admin) -> int:
        """Task slots that real-time mode holds: of all partitions that are read, and of every level."""
        topics = [topic for topic in self.topology.source_topics if admin.exists(topic)]
        partitions = sum(len(admin.topic(topic).partitions) for topic in topics)
        plan = physical_plan(self.topology)
        return slots_needed(partitions, self.tasks, 0 if is_stateless(self.topology) else plan.depth)


def with_slots(master: str, tasks: int) -> str:
    """The master to start; on all cores of this machine two tasks share one.

    A task waits for Kafka a good part of its time.

    >>> with_slots("local[3]", tasks=8), with_slots("spark://there:7077", tasks=8)
    ('local[3]', 'spark://there:7077')
    """
    if master != "local[*]":
        return master
    cores = _slots(master)
    return f"local[{max(cores, min(tasks, 2 * cores))}]"


def _slots(master: str) -> int:
    inside = master.partition("[")[2].partition("]")[0].partition(",")[0]
    cores = os.cpu_count() or 2
    if not master.startswith("local"):
        return 2 * cores
    return int(inside) if inside.isdigit() else cores if inside == "*" else 1
