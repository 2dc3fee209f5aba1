"""Pytest fixtures: one real Kafka and one real Spark for the whole run, fresh topics for every test.

Active wherever Tidemill is installed; imports nothing until a test asks for a fixture.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient
    from pyspark.sql import SparkSession

    from tidemill.kafka.embedded import Cluster


class TopicFactory(Protocol):
    """What the `topic` fixture gives."""

    def __call__(
        self,
        name: str = "topic",
        partitions: int = 1,
        replication: int = -1,
        config: Mapping[str, str] | None = None,
    ) -> str:
        """Create a topic whose name begins with `name` and is unique; returns the whole name."""


class ClusterFactory(Protocol):
    """What the `kafka_cluster` fixture gives."""

    def __call__(self, brokers: int = 3, **options: Any) -> Cluster:
        """Start a cluster that is stopped when the test ends; options are those of `Cluster`."""


@pytest.fixture(scope="session")
def kafka() -> Iterator[Cluster]:
    """A Kafka broker shared by the whole run. Topics are not created by themselves: use `topic`."""
    from tidemill.kafka.embedded import Cluster

    with Cluster(name="tests") as cluster:
        yield cluster


@pytest.fixture(scope="session")
def secure_kafka() -> Iterator[Cluster]:
    """A broker with every kind of login, shared by the whole run: see `Cluster.client_config`."""
    from tidemill.kafka.embedded import Cluster

    with Cluster(name="secure-tests", secure="all") as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kafka_admin(kafka: Cluster) -> AdminClient:
    """An admin client of the shared broker."""
    from confluent_kafka.admin import AdminClient

    return AdminClient(kafka.client_config())


@pytest.fixture
def topic(kafka_admin: AdminClient, request: pytest.FixtureRequest) -> TopicFactory:
    """Creates topics on the shared broker, with names no other test has."""
    from confluent_kafka.cimpl import NewTopic

    def create(
        name: str = "topic",
        partitions: int = 1,
        replication: int = -1,
        config: Mapping[str, str] | None = None,
    ) -> str:
        test = re.sub(r"[^A-Za-z0-9_]+", "-", request.node.name).strip("-")[:80]
        unique = f"{name}-{test}-{os.getpid()}-{next(_numbers)}"
        wanted = NewTopic(unique, partitions, replication, config=dict(config or {}))
        kafka_admin.create_topics([wanted])[unique].result(30)
        _wait_for_leaders(kafka_admin, unique, partitions)
        return unique

    return create


@pytest.fixture
def kafka_cluster() -> Iterator[ClusterFactory]:
    """Starts clusters of their own for one test: `kafka_cluster(3)`."""
    from tidemill.kafka.embedded import Cluster

    with ExitStack() as started:

        def start(brokers: int = 3, **options: Any) -> Cluster:
            return started.enter_context(Cluster(brokers, **options))

        yield start


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A Spark session shared by the whole run, in this process; set up for a quick start, not for speed."""
    from tidemill.engine.session import spark_session

    folder = tmp_path_factory.mktemp("spark")
    # Real-time mode, as of the test driver, holds a task slot per operator and partition all at once.
    session = spark_session(
        "local[8]",
        name="tests",
        conf={
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.streaming.checkpointLocation": str(folder / "checkpoints"),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        },
        log_file=folder / "spark.log",
    )
    yield session
    session.stop()


def _wait_for_leaders(admin: AdminClient, topic: str, partitions: int) -> None:
    """A broker answers that a topic is created a moment before it takes records for it."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        known = admin.list_topics(topic, timeout=10).topics[topic].partitions
        if len(known) == partitions and all(one.leader >= 0 for one in known.values()):
            return
        time.sleep(0.02)
    raise TimeoutError(f"topic {topic} got no leaders")


_numbers = itertools.count(1)
