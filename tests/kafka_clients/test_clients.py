"""Clients against a real broker: partitions as Java chooses them, transactions, groups moved from outside."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tidemill.errors import Unreachable
from tidemill.kafka.admin import Admin
from tidemill.kafka.groups import commit_offsets, committed, describe_group, plan_moves
from tidemill.kafka.offsets import Range, offsets_at, watermarks
from tidemill.kafka.reader import Reading, read
from tidemill.kafka.records import Record
from tidemill.kafka.settings import Settings
from tidemill.kafka.writer import Writer

# Hashes of org.apache.kafka.common.utils.Utils.murmur2, from Kafka's own UtilsTest.
MURMUR2 = {"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536, "abc": 479470107}


@pytest.fixture
def settings(kafka: Any) -> Settings:
    return Settings.of({"bootstrap.servers": kafka.bootstrap_servers})


@pytest.mark.parametrize("partitions", [3, 7])
def test_keys_go_where_java_sends_them(
    settings: Settings, topic: Callable[..., str], partitions: int
) -> None:
    name = topic(partitions=partitions)
    Writer(settings, name).write_all(Record(b"v", key.encode()) for key in MURMUR2)
    reading = Reading([name], Range("beginning"), stop_at_end=True)
    found = {record.key.decode(): record.partition for record in read(reading, settings) if record.key}
    assert found == {key: (hashed & 0x7FFFFFFF) % partitions for key, hashed in MURMUR2.items()}


def test_reading_to_the_end_passes_transaction_markers(settings: Settings, topic: Callable[..., str]) -> None:
    from confluent_kafka import Producer

    from tidemill.kafka.clients import producer_config

    name = topic(partitions=1)
    producer = Producer({**producer_config(settings), "transactional.id": f"{name}-tx"})
    producer.init_transactions(10)
    for value, finish in (("kept", producer.commit_transaction), ("dropped", producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(name, value)
        producer.flush(10)
        finish(10)

    def values(level: str) -> list[bytes | None]:
        chosen = Settings.of({"isolation.level": level}).over(settings)
        return [
            record.value for record in read(Reading([name], Range("beginning"), stop_at_end=True), chosen)
        ]

    assert values("read_committed") == [b"kept"]
    assert values("read_uncommitted") == [b"kept", b"dropped"]


def test_offsets_by_time_and_the_end_where_there_is_none(
    settings: Settings, topic: Callable[..., str]
) -> None:
    name = topic(partitions=1, config={"retention.ms": "-1"})
    Writer(settings, name).write_all(Record(b"v", timestamp=stamp) for stamp in (1000, 2000, 3000))
    admin = Admin(settings)
    assert offsets_at(admin, [(name, 0)], 1500) == {(name, 0): 1}
    assert offsets_at(admin, [(name, 0)], 9000) == {(name, 0): 3}
    assert watermarks(admin, [(name, 0)])[name, 0].count == 3


def test_a_group_is_moved_from_outside(settings: Settings, topic: Callable[..., str]) -> None:
    name = topic(partitions=2)
    Writer(settings, name).write_all(Record(b"v", partition=part) for part in (0, 0, 0, 1))
    admin, group = Admin(settings), f"{name}-group"
    commit_offsets(admin, group, {(name, 0): 2, (name, 1): 1})
    assert committed(admin, group) == {(name, 0): 2, (name, 1): 1}
    assert not describe_group(admin, group).is_active
    moves = plan_moves(admin, group, [(name, 0), (name, 1)], to="shift", value=-5)
    assert [(move.partition, move.current, move.new) for move in moves] == [(0, 2, 0), (1, 1, 0)]


@pytest.mark.parametrize("code", ["COORDINATOR_LOAD_IN_PROGRESS", "NOT_LEADER_FOR_PARTITION"])
def test_a_cluster_may_need_a_moment(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    from tidemill.errors import Unreachable
    from tidemill.kafka import patience
    from tidemill.kafka.errors import translate

    busy = translate(code, where="here")
    assert isinstance(busy, Unreachable)
    answers: list[object] = [busy, busy, "ready"]

    @patience.patient(type(busy))
    def ask() -> object:
        answer = answers.pop(0)
        if isinstance(answer, Unreachable):
            raise answer
        return answer

    assert ask() == "ready"
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.0)
    answers[:] = [busy] * 5
    with pytest.raises(type(busy)):
        ask()


def test_a_group_that_stops_in_the_middle_skips_nothing(
    settings: Settings, topic: Callable[..., str]
) -> None:
    name = topic(partitions=1)
    Writer(settings, name).write_all(Record(str(number).encode()) for number in range(10))
    reading = Reading([name], Range("beginning"), group=f"{name}-group", idle_timeout=20)
    records = read(reading, settings)
    assert [next(records).value for _ in range(4)] == [b"0", b"1", b"2", b"3"]
    records.close()
    again = read(reading, settings)
    assert next(again).value == b"3"
    again.close()


def test_a_reader_outlives_a_restart_of_its_broker(
    kafka_cluster: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemill.kafka.reader._PATIENCE", 0.5)
    cluster = kafka_cluster(1)
    settings = Settings.of({"bootstrap.servers": cluster.bootstrap_servers})
    Admin(settings).create("t", partitions=1)
    records = read(Reading(["t"], Range("beginning"), idle_timeout=30), settings)
    Writer(settings, "t").write_all([Record(b"before")])
    assert next(records).value == b"before"
    cluster.restart(1)
    Writer(settings, "t").write_all([Record(b"after")])
    assert next(records).value == b"after"
    records.close()


def test_a_dead_address_fails_fast() -> None:
    before = time.monotonic()
    with pytest.raises(Unreachable, match="no broker answered"):
        Admin(Settings.of({"bootstrap.servers": "127.0.0.1:1"})).topics()
    assert time.monotonic() - before < 10


def test_a_listener_that_never_answers_fails_within_the_limit() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        before = time.monotonic()
        with pytest.raises(Unreachable):
            Admin(Settings.of({"bootstrap.servers": f"127.0.0.1:{silent.getsockname()[1]}"})).topics()
    assert time.monotonic() - before < 12
