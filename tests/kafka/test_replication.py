"""Three brokers: an acknowledged record survives the sudden end of one of them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tidemill.testing.plugin import ClusterFactory


def leader_of(admin: AdminClient, topic: str) -> int:
    """The leader of the first partition, once every broker has heard of the new topic."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        partitions = admin.list_topics(topic, timeout=10).topics[topic].partitions
        if 0 in partitions and partitions[0].leader > 0:
            return partitions[0].leader
        time.sleep(0.1)
    raise TimeoutError(f"topic {topic} got no leader")


@pytest.mark.cluster
def test_acknowledged_records_survive_a_killed_leader(kafka_cluster: ClusterFactory, read: Callable) -> None:
    cluster = kafka_cluster(
        3, config={"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
    )
    admin = AdminClient(cluster.client_config())
    topic = NewTopic("replicated", 3, 3, config={"min.insync.replicas": "2"})
    admin.create_topics([topic])["replicated"].result(20)
    leader = leader_of(admin, "replicated")

    acknowledged: set[int] = set()
    producer = Producer(
        {
            **cluster.client_config(),
            "acks": "all",
            "enable.idempotence": True,
            "partitioner": "murmur2_random",
            "linger.ms": 1,
            "message.timeout.ms": 60_000,
        }
    )
    sent, after_kill, killed_at = 0, 0, None
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        number = sent
        producer.produce(
            "replicated",
            str(number),
            key=str(number),
            on_delivery=lambda error, _, number=number: error or acknowledged.add(number),
        )
        sent += 1
        producer.poll(0.001)
        if killed_at is None and len(acknowledged) > 300:
            cluster.kill(leader)
            killed_at = sent
        if killed_at is not None:
            after_kill = sum(one >= killed_at for one in acknowledged) if sent % 100 == 0 else after_kill
            if after_kill > 300:
                break
    producer.flush(60)
    assert killed_at is not None
    assert len(cluster.pids) == 2

    cluster.start_broker(leader)
    found = [int(message.value()) for message in read(cluster.client_config(), "replicated", partitions=3)]
    assert acknowledged <= set(found)
    assert len(found) == len(set(found))
    assert max(acknowledged) > killed_at
    assert len(cluster.pids) == 3
