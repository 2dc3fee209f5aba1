"""Topics and the cluster: what `tidemill topics` and other rooms do through Kafka's admin interface."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tidemill.errors import NotFound, TidemillError, UsageError
from tidemill.kafka.clients import REQUEST_TIMEOUT, admin_types, open_admin
from tidemill.kafka.errors import Subject
from tidemill.kafka.settings import Settings

T = TypeVar("T")

_SETTLE_SECONDS = 5.0


@dataclass(frozen=True)
class Broker:
    id: int
    host: str
    port: int


@dataclass(frozen=True)
class Cluster:
    """A cluster as its brokers describe it."""

    id: str
    controller: int | None
    brokers: tuple[Broker, ...]


@dataclass(frozen=True)
class Partition:
    id: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True)
class Topic:
    """A topic's shape."""

    name: str
    partitions: tuple[Partition, ...] = field(default=())
    internal: bool = False
    id: str = ""
    """Changes when a topic is deleted and created again; empty where it was not asked for."""

    @property
    def replication(self) -> int:
        return max((len(partition.replicas) for partition in self.partitions), default=0)


@dataclass(frozen=True)
class ConfigValue:
    """One setting of a topic; `source` says whether it is the topic's own or inherited."""

    name: str
    value: str | None
    source: str
    is_default: bool
    is_sensitive: bool


class Admin:
    """An admin client whose failures are Tidemill errors."""

    def __init__(self, settings: Settings, *, verbose: bool = False) -> None:
        self.settings = settings
        self.raw, self.watch = open_admin(settings, verbose=verbose)
        self._reached = False

    def cluster(self) -> Cluster:
        """The cluster: proves that a broker answers and lets us in."""
        described = self.wait(self.raw.describe_cluster(request_timeout=REQUEST_TIMEOUT))
        self._reached = True
        brokers = tuple(Broker(node.id, node.host, node.port) for node in described.nodes)
        controller = described.controller.id if described.controller else None
        return Cluster(described.cluster_id, controller, tuple(sorted(brokers, key=lambda broker: broker.id)))

    def topics(self, *, internal: bool = False) -> list[Topic]:
        """Every topic, by name; Kafka's own only when asked for."""
        self.reach()
        try:
            metadata = self.raw.list_topics(timeout=REQUEST_TIMEOUT)
        except Exception as error:  # the client raises its own type only, but it is imported lazily
            raise self.watch.error(error) from error
        found = (_from_metadata(topic) for topic in metadata.topics.values())
        return sorted(
            (topic for topic in found if internal or not topic.internal), key=lambda topic: topic.name
        )

    def topic(self, name: str) -> Topic:
        """One topic; `NotFound` if there is none."""
        return self.describe([name])[0]

    def describe(self, names: Sequence[str]) -> list[Topic]:
        """The named topics; `NotFound` at the first that does not exist."""
        from confluent_kafka import TopicCollection

        self.reach()
        futures = self.raw.describe_topics(TopicCollection(list(names)), request_timeout=REQUEST_TIMEOUT)
        return [_from_description(self.wait(futures[name], Subject("topic", name))) for name in names]

    def exists(self, name: str) -> bool:
        """Whether there is such a topic."""
        try:
            self.topic(name)
        except NotFound:
            return False
        return True

    def create(
        self,
        name: str,
        *,
        partitions: int = -1,
        replication: int = -1,
        config: Mapping[str, str] | None = None,
    ) -> None:
        """Create a topic; -1 leaves a number to the broker's default."""
        types = admin_types()
        self.reach()
        subject = Subject("topic", name)
        with _refused(self, subject):
            topic = types.NewTopic(name, partitions, replication, config=dict(config or {}))
            futures = self.raw.create_topics([topic], request_timeout=REQUEST_TIMEOUT)
        self.wait(futures[name], subject)
        self._settle(lambda: self.exists(name) and self._has_config(name, config or {}, ()))

    def delete(self, names: Iterable[str]) -> None:
        """Delete topics."""
        self.reach()
        futures = self.raw.delete_topics(list(names), request_timeout=REQUEST_TIMEOUT)
        for name, future in futures.items():
            self.wait(future, Subject("topic", name))
        self._settle(lambda: not any(self.exists(name) for name in futures))

    def add_partitions(self, name: str, total: int) -> None:
        """Grow a topic to `total` partitions."""
        types = admin_types()
        self.reach()
        subject = Subject("topic", name)
        with _refused(self, subject):
            futures = self.raw.create_partitions(
                [types.NewPartitions(name, total)], request_timeout=REQUEST_TIMEOUT
            )
        self.wait(futures[name], subject)
        self._settle(lambda: len(self.topic(name).partitions) >= total)

    def configs(self, name: str) -> list[ConfigValue]:
        """The settings of a topic."""
        types = admin_types()
        self.reach()
        resource = types.ConfigResource(types.ResourceType.TOPIC, name)
        (future,) = self.raw.describe_configs([resource], request_timeout=REQUEST_TIMEOUT).values()
        found = self.wait(future, Subject("topic", name))
        return sorted(
            (
                ConfigValue(
                    name=entry.name,
                    value=entry.value,
                    source=types.ConfigSource(entry.source).name.lower().replace("_config", ""),
                    is_default=types.ConfigSource(entry.source)
                    is not types.ConfigSource.DYNAMIC_TOPIC_CONFIG,
                    is_sensitive=bool(entry.is_sensitive),
                )
                for entry in found.values()
            ),
            key=lambda value: value.name,
        )

    def alter_config(self, name: str, changes: Mapping[str, str], removed: Collection[str] = ()) -> None:
        """Set settings of a topic, and return others to their default."""
        types = admin_types()
        self.reach()
        entries = [
            types.ConfigEntry(key, value, incremental_operation=types.AlterConfigOpType.SET)
            for key, value in changes.items()
        ] + [
            types.ConfigEntry(key, None, incremental_operation=types.AlterConfigOpType.DELETE)
            for key in removed
        ]
        resource = types.ConfigResource(types.ResourceType.TOPIC, name, incremental_configs=entries)
        (future,) = self.raw.incremental_alter_configs([resource], request_timeout=REQUEST_TIMEOUT).values()
        self.wait(future, Subject("topic", name))
        self._settle(lambda: self._has_config(name, changes, removed))

    def reach(self) -> None:
        """Find out once whether a broker answers at all, before calls that would wait long for it."""
        if not self._reached:
            self.cluster()

    def _has_config(self, name: str, changes: Mapping[str, str], removed: Collection[str]) -> bool:
        own = {value.name: value.value for value in self.configs(name) if not value.is_default}
        return all(own.get(key) == value for key, value in changes.items()) and not own.keys() & set(removed)

    def _settle(self, done: Callable[[], bool]) -> None:
        """Wait until the brokers tell of a change the controller has made; they lag behind it a little."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < deadline:
            try:
                if done():
                    return
            except NotFound:
                pass
            except TidemillError:
                return  # we may change but not look
            time.sleep(0.02)

    def wait(self, future: Future[T], subject: Subject | None = None) -> T:
        """The result of a request, failing early where the connection does."""
        return self.watch.wait(future, self.raw.poll, subject)


class _refused:  # noqa: N801 -- reads as a word of the with statement
    """Tells values the client refuses before it even asks the broker."""

    def __init__(self, admin: Admin, subject: Subject) -> None:
        self._admin, self._subject = admin, subject

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, TidemillError):
            return
        if isinstance(error, ValueError | TypeError) or type(error).__name__ == "KafkaException":
            text = str(error.args[0].str()) if hasattr(error.args[0], "str") else str(error)
            raise UsageError(
                f"{self._subject}: {text}",
                where=self._admin.watch.where,
                remedy="give at least 1 partition and 1 replica",
            ) from error


def _from_metadata(topic: Any) -> Topic:
    partitions = tuple(
        Partition(part.id, part.leader if part.leader >= 0 else None, tuple(part.replicas), tuple(part.isrs))
        for part in sorted(topic.partitions.values(), key=lambda part: part.id)
    )
    return Topic(topic.topic, partitions, internal=topic.topic.startswith("__"))


def _from_description(topic: Any) -> Topic:
    partitions = tuple(
        Partition(
            part.id,
            part.leader.id if part.leader else None,
            tuple(node.id for node in part.replicas),
            tuple(node.id for node in part.isr),
        )
        for part in sorted(topic.partitions, key=lambda part: part.id)
    )
    return Topic(topic.name, partitions, internal=bool(topic.is_internal), id=str(topic.topic_id))
