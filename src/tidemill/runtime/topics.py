"""The topics of an app: sources must be there, sinks and markers are created."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping

from tidemill.errors import NotFound, TidemillError
from tidemill.kafka.admin import Admin
from tidemill.runtime.config import AppConfig
from tidemill.topology import Topology
from tidemill.topology.changelogs import changelogs
from tidemill.topology.nodes import TopicSource

log = logging.getLogger(__name__)


def marker_topic(application_id: str) -> str:
    """The empty topic, and the group of the same name, that hold the app's claim and its batch markers."""
    return f"{application_id}-markers"


def own_topics(topology: Topology, application_id: str) -> tuple[str, ...]:
    """The topics that belong to an app alone: its markers and its changelogs. No pattern matches them."""
    return (marker_topic(application_id), *changelogs(topology, application_id))


def read_topics(admin: Admin, source: TopicSource, own: Collection[str]) -> list[str]:
    """The topics a node reads: those it names, or those its pattern matches now."""
    if source.pattern is None:
        return list(source.topics)
    names = (topic.name for topic in admin.topics())
    return [name for name in names if name not in own and re.fullmatch(source.pattern, name)]


def check_sources(admin: Admin, topology: Topology, config: AppConfig) -> int:
    """Refuse to start where a source topic is missing; returns the largest number of partitions."""
    written = set(topology.sink_topics)
    own = own_topics(topology, config.application_id)
    most = 1
    for source in topology.sources:
        for topic in read_topics(admin, source, own):
            try:
                most = max(most, len(admin.topic(topic).partitions))
            except NotFound as error:
                if topic in written and config.auto_create_topics:
                    continue
                raise NotFound(
                    f"topic `{topic}` does not exist; `{source.name}` reads it",
                    where=admin.watch.where,
                    remedy=f"create it with `tidemill topics create {topic}`",
                ) from error
    return most


def create_topics(
    admin: Admin, topology: Topology, config: AppConfig, *, partitions: int, tasks: int
) -> None:
    """Create the topics of sinks and dead letters that are missing, changelogs and the marker topic.

    A changelog has a partition for each task. The marker topic stays empty: it is there for the offsets of
    its partitions, one for each task and one that tells which instance runs. Its own retention does not
    matter.
    """
    for sink in topology.sinks:
        if sink.topic is None or admin.exists(sink.topic):
            continue
        if not config.auto_create_topics:
            raise NotFound(
                f"topic `{sink.topic}` does not exist; `{sink.name}` writes it",
                where=admin.watch.where,
                remedy=f"create it with `tidemill topics create {sink.topic}`, or auto.create.topics=true",
            )
        _create(admin, sink.topic, partitions, config.replication_factor)
    if config.handlers.write_letters and not admin.exists(config.handlers.topic):
        if not config.auto_create_topics:
            raise NotFound(
                f"topic `{config.handlers.topic}` does not exist; dead letters are written to it",
                where=admin.watch.where,
                remedy=f"create it with `tidemill topics create {config.handlers.topic}`,"
                " or auto.create.topics=true",
            )
        _create(admin, config.handlers.topic, partitions, config.replication_factor)
    for topic, settings in changelogs(topology, config.application_id).items():
        if not admin.exists(topic):
            _create(admin, topic, tasks, config.replication_factor, settings)
    markers = marker_topic(config.application_id)
    if not admin.exists(markers):
        _create(admin, markers, tasks + 1, config.replication_factor)
    elif len(admin.topic(markers).partitions) < tasks + 1:
        admin.add_partitions(markers, tasks + 1)


def chosen_partitions(admin: Admin, topology: Topology) -> dict[str, int]:
    """How many partitions the topics have whose sinks choose one by a function."""
    choosing = [sink.topic for sink in topology.sinks if sink.partitioner is not None and sink.topic]
    return {topic: len(admin.topic(topic).partitions) for topic in choosing}


def _create(
    admin: Admin, topic: str, partitions: int, replication: int, settings: Mapping[str, str] | None = None
) -> None:
    try:
        admin.create(topic, partitions=partitions, replication=replication, config=settings)
    except TidemillError:
        # Another app may have been quicker.
        if not admin.exists(topic):
            raise
    log.info("created topic %s with %d partitions", topic, partitions)
