"""`tidemill groups` against a real broker."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tidemill.kafka.admin import Admin
from tidemill.kafka.groups import commit_offsets
from tidemill.kafka.records import Record
from tidemill.kafka.settings import Settings
from tidemill.kafka.writer import Writer


@pytest.fixture
def name(kafka: Any, topic: Callable[..., str]) -> str:
    """A topic of two partitions, 10 records each, and a group of its name that has read 4 and 0 of them."""
    name = topic(partitions=2, config={"retention.ms": "-1"})  # the timestamps are of 1970
    settings = Settings.of({"bootstrap.servers": kafka.bootstrap_servers, "acks": "1"})
    Writer(settings, name).write_all(
        Record(b"v", timestamp=number * 1000, partition=part) for part in (0, 1) for number in range(1, 11)
    )
    commit_offsets(Admin(settings), name, {(name, 0): 4, (name, 1): 0})
    return name


def offsets(cli: Callable[..., Any], name: str) -> list[int]:
    return [
        part["current_offset"] for part in cli("groups", "describe", name, "-O", "json").json()["partitions"]
    ]


@contextmanager
def member(kafka: Any, name: str, protocol: str) -> Iterator[None]:
    from confluent_kafka import Consumer

    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": name,
            "group.protocol": protocol,
            "client.id": "reader",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([name])
    for _ in range(200):
        consumer.poll(0.1)
        if len(consumer.assignment()) == 2:
            break
    try:
        yield
    finally:
        consumer.close()


def test_list_and_describe(cli: Callable[..., Any], name: str) -> None:
    assert f"{name}\tempty" in cli("groups", "list").lines
    described = cli("groups", "describe", name, "-O", "json").json()
    assert described["state"] == "empty"
    assert described["lag"] == 16
    assert described["partitions"][0] == {
        "topic": name,
        "partition": 0,
        "current_offset": 4,
        "end_offset": 10,
        "lag": 6,
        "member": None,
    }
    assert cli("groups", "describe", name).lines == [f"{name}\t0\t4\t10\t6\t-", f"{name}\t1\t0\t10\t10\t-"]
    assert (
        cli("groups", "describe", name, "-O", "table").lines[0]
        == f"{name}  empty, 0 members, 16 records behind"
    )


def test_lag_is_verified(cli: Callable[..., Any], name: str) -> None:
    behind = cli("groups", "describe", name, "--verify-lag")
    assert behind.code == 6
    assert f"not everything was read: {name} by 16 records behind" in behind.err
    cli("groups", "reset-offsets", name, "--all-topics", "--to-latest", "--execute")
    assert cli("groups", "describe", name, "--verify-lag").code == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--to-earliest"], [0, 0]),
        (["--to-latest"], [10, 10]),
        (["--to-current"], [4, 0]),
        (["--to-offset", "3"], [3, 3]),
        (["--to-offset", "99"], [10, 10]),
        (["--to-datetime", "1970-01-01T00:00:07"], [6, 6]),
        (["--by-duration", "P1D"], [10, 10]),
        (["--shift-by", "2"], [6, 2]),
        (["--shift-by", "-2"], [2, 0]),
    ],
)
def test_offsets_move_only_when_told(
    cli: Callable[..., Any], name: str, words: list[str], expected: list[int]
) -> None:
    dry = cli("groups", "reset-offsets", name, "--topic", name, *words, "-O", "json")
    assert [move["new_offset"] for move in dry.json()] == expected
    assert "Nothing was changed" in dry.err
    assert offsets(cli, name) == [4, 0]
    assert cli("groups", "reset-offsets", name, "--topic", name, *words, "--execute").code == 0
    assert offsets(cli, name) == expected


def test_offsets_from_a_file(cli: Callable[..., Any], name: str, tmp_path: Path) -> None:
    table = tmp_path / "offsets.csv"
    table.write_text(f'"{name}",0,7\n{name},1,8\n')
    assert cli("groups", "reset-offsets", name, "--from-file", str(table), "--execute").code == 0
    assert offsets(cli, name) == [7, 8]
    table.write_text("nonsense\n")
    assert cli("groups", "reset-offsets", name, "--from-file", str(table)).code == 2


def test_only_some_partitions(cli: Callable[..., Any], name: str) -> None:
    cli("groups", "reset-offsets", name, "--topic", f"{name}:1", "--to-latest", "--execute")
    assert offsets(cli, name) == [4, 10]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_with_members_is_left_alone(
    cli: Callable[..., Any], kafka: Any, name: str, protocol: str
) -> None:
    with member(kafka, name, protocol):
        refused = cli("groups", "reset-offsets", name, "--topic", name, "--to-latest", "--execute")
        assert refused.code == 6
        assert f"group `{name}` is stable with 1 member; nothing was changed" in refused.err
        assert cli("groups", "delete", name, "--yes").code == 6
        described = cli("groups", "describe", name, "-O", "json").json()
        assert described["state"] == "stable"
        assert {part["member"]["client_id"] for part in described["partitions"]} == {"reader"}
    assert offsets(cli, name) == [4, 0]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 2),
        (["--to-latest"], 2),
        (["--to-latest", "--to-earliest", "--all-topics"], 2),
        (["--to-latest", "--topic", "no-such-topic"], 3),
        (["--to-datetime", "noon", "--all-topics"], 2),
        (["--by-duration", "long", "--all-topics"], 2),
    ],
)
def test_what_is_not_a_reset(cli: Callable[..., Any], name: str, words: list[str], code: int) -> None:
    assert cli("groups", "reset-offsets", name, *words).code == code


def test_delete(cli: Callable[..., Any], name: str) -> None:
    assert cli("groups", "delete", name).code == 2
    assert cli("groups", "delete", name, "--yes").code == 0
    assert cli("groups", "describe", name).code == 3
    assert cli("groups", "delete", name, "--yes").code == 3
    assert cli("groups", "reset-offsets", name, "--all-topics", "--to-latest").code == 3
