"""A life: apps, their topics and state, through one fault after another, compared with the oracle."""

from __future__ import annotations

import shutil
import time
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from fault.checks import Violation, check_complete, check_safety, check_whole, missing
from fault.ledger import Entry, Ledger
from fault.process import PATIENCE, AppProcess
from fault.proxy import Proxy
from fault.workloads import WORKLOADS
from tidemill.kafka.admin import Admin
from tidemill.kafka.clients import producer_config
from tidemill.kafka.embedded import Cluster
from tidemill.kafka.settings import Settings

PARTITIONS = 2
ROUND = 160
Apps = Mapping[str, Sequence[str]]
"""Workloads by app."""


class Life:
    """Runs apps in one process and keeps book of what goes in and comes out."""

    def __init__(
        self,
        cluster: Cluster,
        folder: Path,
        apps: Apps,
        *,
        seed: int,
        settings: Mapping[str, Any] | None = None,
        client: Mapping[str, str] | None = None,
        servers: str | None = None,
    ) -> None:
        self.cluster = cluster
        self.servers = servers or cluster.bootstrap_servers
        self.proxy: Proxy | None = None
        self.deleted = 0
        """How much of the input was done before an output topic was deleted."""
        self.folder = folder
        self.apps = {name: tuple(workloads) for name, workloads in apps.items()}
        self.workloads = [WORKLOADS[name] for names in apps.values() for name in names]
        self.prefix = f"life-{uuid.uuid4().hex[:8]}"
        self.ledger = Ledger(seed)
        self.settings = {**_SETTINGS, **(settings or {})}
        self.client = Settings.of(client or cluster.client_config())
        self.admin = Admin(self.client)
        self.read: dict[str, list[Entry]] = defaultdict(list)
        self.app: AppProcess | None = None
        self.environment: dict[str, str] = {}
        """Variables the apps are started with."""
        self.dead = False
        """Whether a fault has ended this life for good, or a check has failed."""
        self.ordered = True
        """Whether the records of a key are in one partition, so that they have an order."""
        self._not_told = ""
        self._members: dict[str, Consumer] = {}
        self._read_to: dict[tuple[str, int], int] = {}
        self._others: list[AppProcess] = []
        self._starts = 0
        self._producer = Producer(producer_config(self.client))
        folder.mkdir(parents=True, exist_ok=True)
        topics = {source for workload in self.workloads for source in workload.sources}
        self.sources = topics
        outputs = {workload.output for workload in self.workloads}
        if any(workload.name == "two-stages" for workload in self.workloads):
            outputs.add("middle")
        for topic in topics | outputs:
            self.admin.create(self.topic(topic), partitions=PARTITIONS)

    def topic(self, name: str) -> str:
        return f"{self.prefix}-{name}"

    def application_id(self, app: str) -> str:
        return f"{self.prefix}-{app}"

    @property
    def state_dir(self) -> Path:
        return self.folder / "state"

    def app_folder(self, app: str) -> Path:
        """What an app keeps on disk."""
        return self.state_dir / self.application_id(app)

    def start(self, *, wait: bool = True, settings: Mapping[str, Any] | None = None) -> AppProcess:
        """Start the apps."""
        self.app = self.another(settings=settings)
        if wait:
            self.app.await_running()
        return self.app

    def another(self, *, settings: Mapping[str, Any] | None = None) -> AppProcess:
        """One more process with the same apps, beside the one there is."""
        self._starts += 1
        plan = {
            "servers": self.servers,
            "prefix": self.prefix,
            "apps": [
                {"id": self.application_id(name), "workloads": names} for name, names in self.apps.items()
            ],
            "settings": {"state_dir": str(self.state_dir), **self.settings, **(settings or {})},
        }
        process = AppProcess(plan, self.folder / f"app-{self._starts}.log", **self.environment)
        self._others.append(process)
        return process

    def feed(self, size: int = ROUND) -> None:
        """Send one more round of records; only what is acknowledged counts as input."""

        def delivered(error: Any, message: Any) -> None:
            assert error is None, error
            entry = Entry(
                message.partition(), message.offset(), message.key(), message.value(), message.timestamp()[1]
            )
            self.ledger.produced[message.topic().removeprefix(f"{self.prefix}-")].append(entry)

        for topic, record in self.ledger.next_round(self.sources, size):
            self._producer.produce(self.topic(topic), **record, on_delivery=delivered)
            self._producer.poll(0)
        assert self._producer.flush(60) == 0

    def done(self) -> int:
        """How much of the input the apps say they have finished."""
        total = 0
        count = PARTITIONS if self.ordered else PARTITIONS + 1
        parts = [TopicPartition(self.topic(name), part) for name in self.sources for part in range(count)]
        for app in self.apps:
            try:
                found = self._member_of(app).committed(parts, timeout=10)
            except KafkaException as error:
                self._not_told = str(error)
                continue
            total += sum(part.offset for part in found if part.offset > 0)
        return total

    def _member_of(self, app: str) -> Consumer:
        """A consumer of an app's group that reads nothing: it asks again where an admin client gives up."""
        if app not in self._members:
            group = {"group.id": self.application_id(app), "enable.auto.commit": False}
            self._members[app] = Consumer({**self.client.librdkafka(), **group})
        return self._members[app]

    def due(self) -> int:
        """How much `done` will be when nothing is left."""
        return sum(
            len(self.ledger.produced[topic])
            for names in self.apps.values()
            for topic in {source for name in names for source in WORKLOADS[name].sources}
        )

    def drain(self) -> None:
        """Read what has become visible to readers of committed records since the last time."""
        consumer = Consumer(
            {
                **self.client.librdkafka(),
                "group.id": f"{self.prefix}-oracle",
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "enable.auto.commit": False,
            }
        )
        parts = [(workload.output, part) for workload in self.workloads for part in range(PARTITIONS)]
        open_parts = set(parts)
        consumer.assign([TopicPartition(self.topic(t), p, self._read_to.get((t, p), 0)) for t, p in parts])
        deadline = time.monotonic() + PATIENCE
        try:
            while open_parts:
                assert time.monotonic() < deadline, f"not read to the end: {open_parts}"
                for message in consumer.consume(500, 0.2):
                    name = message.topic().removeprefix(f"{self.prefix}-")
                    part = (name, message.partition())
                    if message.error() is None:
                        self._keep(name, message)
                    elif message.error().code() == KafkaError._PARTITION_EOF:
                        open_parts.discard(part)
                        self._read_to[part] = message.offset()
        finally:
            consumer.close()

    def _keep(self, name: str, message: Any) -> None:
        self.read[name].append(
            Entry(
                message.partition(),
                message.offset(),
                message.key(),
                message.value(),
                message.timestamp()[1],
            )
        )
        self._read_to[name, message.partition()] = message.offset() + 1

    def output(self, topic: str) -> list[Entry]:
        """What was read of an output topic, partition by partition."""
        return sorted(self.read[topic], key=lambda entry: (entry.partition, entry.offset))

    def check_now(self) -> None:
        """The invariants that hold at any moment, also in the middle of the work."""
        self.drain()
        for workload in self.workloads:
            check_safety(workload, self.ledger, self.output(workload.output), ordered=self.ordered)

    def check_not_torn(self) -> None:
        """With nobody at work, what a task wrote is there in all its topics or in none (I5)."""
        if not {"echo", "totals"} <= {workload.name for workload in self.workloads}:
            return
        deadline = time.monotonic() + 10
        while True:  # the broker itself may still be telling the partitions about a commit
            self.drain()
            try:
                check_whole(self.read)
            except Violation:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return

    def finish(self, timeout: float = PATIENCE) -> None:
        """Wait until all input is processed, without any help (I6), then compare everything."""
        assert self.app is not None
        deadline = time.monotonic() + timeout
        left: dict[str, int] = {}
        while True:
            # The oracle is asked only when the apps say that they are done: it takes time of theirs.
            if self.done() >= self.due():
                self.check_now()
                left = {
                    w.name: missing(w, self.ledger, self.output(w.output), ordered=self.ordered)
                    for w in self.workloads
                }
                if not any(left.values()):
                    break
            if not self.app.alive:
                raise Violation("I6", "app", f"it ended by itself\n{self.app.tail()}")
            if time.monotonic() > deadline:
                done = f"{self.done()} of {self.due()} done {self._not_told}"
                raise Violation("I6", "app", f"still missing: {left}, {done}")
            time.sleep(0.3)
        self.drain()
        for workload in self.workloads:
            check_complete(workload, self.ledger, self.output(workload.output), ordered=self.ordered)
        self.check_not_torn()

    def await_processed(self) -> None:
        """Wait until the app says that it has done everything, then read."""
        assert self.app is not None
        self.app.until(lambda: self.done() >= self.due())
        assert self.app.alive, self.app.tail()
        self.drain()

    def forget(self, output: str) -> None:
        """An output topic was deleted: what comes from now on is in a new one."""
        self.deleted = self.due()
        self.read.pop(output, None)
        for part in range(PARTITIONS):
            self._read_to.pop((output, part), None)

    def refresh_producer(self) -> None:
        """Let the producer see new partitions."""
        self._producer = Producer(producer_config(self.client))

    def close(self) -> None:
        for process in self._others:
            process.clean_up()
        for member in self._members.values():
            member.close()
        shutil.rmtree(self.folder, ignore_errors=True)


_SETTINGS: dict[str, Any] = {
    "num_stream_threads": 2,
    "tasks": PARTITIONS,
    "statestore_cache_max_bytes": 0,
    "max_offsets_per_trigger": 120,
    "commit_interval_ms": 100,
    "restart_backoff_ms": 200,
    "spark_conf": {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.driver.memory": "1g",
        # Snapshots of the state often enough to be hit.
        "spark.sql.streaming.stateStore.maintenanceInterval": "2s",
        "spark.sql.streaming.stateStore.minDeltasForSnapshot": "3",
    },
}
