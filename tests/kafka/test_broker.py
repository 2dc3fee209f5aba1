"""What one embedded broker can do: all that the rest of the project relies on."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from tidemill.kafka.embedded import Cluster, wire
from tidemill.kafka.embedded.ports import HOST, listens
from tidemill.testing.plugin import TopicFactory


def port_of(kafka: Cluster) -> int:
    return int(kafka.bootstrap_servers.rpartition(":")[2])


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_come_back_in_every_compression(
    kafka: Cluster, topic: TopicFactory, write: Callable, read: Callable, codec: str
) -> None:
    name = topic()
    values = [f"{number} " * 50 for number in range(100)]
    write(kafka.client_config(), name, values, **{"compression.type": codec, "enable.idempotence": True})
    assert [message.value().decode() for message in read(kafka.client_config(), name)] == values


def test_broker_recompresses(kafka: Cluster, topic: TopicFactory, write: Callable, read: Callable) -> None:
    name = topic(config={"compression.type": "zstd"})
    write(kafka.client_config(), name, ["a", "b"], **{"compression.type": "gzip"})
    assert [message.value() for message in read(kafka.client_config(), name)] == [b"a", b"b"]


def test_aborted_transaction_is_not_read(kafka: Cluster, topic: TopicFactory, read: Callable) -> None:
    name = topic()
    producer = Producer(
        {**kafka.client_config(), "transactional.id": f"tx-{uuid4()}", "partitioner": "murmur2_random"}
    )
    producer.init_transactions(20)
    for value, finish in (("one", "commit"), ("lost", "abort"), ("two", "commit")):
        producer.begin_transaction()
        producer.produce(name, value)
        producer.flush(20)
        getattr(producer, f"{finish}_transaction")(20)
    assert [message.value() for message in read(kafka.client_config(), name)] == [b"one", b"two"]
    uncommitted = read(kafka.client_config(), name, **{"isolation.level": "read_uncommitted"})
    assert [message.value() for message in uncommitted] == [b"one", b"lost", b"two"]


def test_second_producer_fences_the_first(kafka: Cluster, topic: TopicFactory) -> None:
    name, identity = topic(), f"tx-{uuid4()}"
    config = {**kafka.client_config(), "transactional.id": identity, "partitioner": "murmur2_random"}
    zombie, heir = Producer(config), Producer(config)
    zombie.init_transactions(20)
    zombie.begin_transaction()
    zombie.produce(name, "late")
    heir.init_transactions(20)
    with pytest.raises(KafkaException) as caught:
        zombie.commit_transaction(20)
    assert caught.value.args[0].code() in (KafkaError._FENCED, KafkaError.PRODUCER_FENCED)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_groups_share_a_topic_in_both_protocols(
    kafka: Cluster, topic: TopicFactory, write: Callable, protocol: str
) -> None:
    name, group = topic(partitions=2), f"group-{uuid4()}"
    write(kafka.client_config(), name, [str(number) for number in range(20)])
    consumer = Consumer(
        {
            **kafka.client_config(),
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([name])
    found = []
    while len(found) < 20:
        message = consumer.poll(20)
        assert message is not None
        assert message.error() is None
        found.append(int(message.value()))
    consumer.commit(asynchronous=False)
    consumer.close()
    assert sorted(found) == list(range(20))
    admin = AdminClient(kafka.client_config())
    described = admin.describe_consumer_groups([group])[group].result(20)
    assert described.type.name == protocol.upper()


def test_features_are_at_the_levels_exactly_once_needs(kafka: Cluster) -> None:
    features = wire.finalized_features(HOST, port_of(kafka))
    assert features["transaction.version"] == 2
    assert features["group.version"] == 1
    assert features["metadata.version"] == 30


def test_listener_is_ours_and_knows_its_cluster(kafka: Cluster) -> None:
    assert listens(kafka.pids[1], port_of(kafka))
    assert wire.cluster_view(HOST, port_of(kafka)) == wire.ClusterView(kafka.cluster_id, (1,))


def test_unknown_topic_is_not_created(kafka: Cluster, write: Callable) -> None:
    with pytest.raises(AssertionError, match="not acknowledged"):
        write(kafka.client_config(), "never-created", ["x"], **{"message.timeout.ms": 1500})
    assert "never-created" not in AdminClient(kafka.client_config()).list_topics().topics


def test_topic_fixture_gives_unique_names_with_partitions_and_settings(
    kafka: Cluster, topic: TopicFactory
) -> None:
    first, second = topic("t", partitions=3, config={"cleanup.policy": "compact"}), topic("t")
    assert first != second
    admin = AdminClient(kafka.client_config())
    assert len(admin.list_topics(first).topics[first].partitions) == 3
    resource = ConfigResource(ResourceType.TOPIC, first)
    settings = admin.describe_configs([resource])[resource].result(20)
    assert settings["cleanup.policy"].value == "compact"


def test_log_holds_no_errors(kafka: Cluster) -> None:
    lines = kafka.logs_tail(200).splitlines()
    # A machine that has more to do than it can is no fault of the broker's.
    assert [line for line in lines if " ERROR " in line and "event queue overloaded" not in line] == []
