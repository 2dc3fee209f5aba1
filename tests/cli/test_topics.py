"""`tidemill topics` against a real broker."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml


@pytest.fixture
def name(topic: Callable[..., str]) -> str:
    return topic(partitions=2)


def test_list(cli: Callable[..., Any], name: str) -> None:
    assert f"{name}\t2\t1" in cli("topics", "list").lines
    assert {"topic": name, "partitions": 2, "replication": 1} in cli("topics", "list", "-O", "json").json()
    assert cli("-O", "table", "topics", "list").lines[0].split() == ["TOPIC", "PARTITIONS", "REPLICAS"]
    wide = cli("topics", "list", "-O", "wide").lines
    assert wide[0].split() == ["TOPIC", "PARTITIONS", "REPLICAS", "RECORDS"]
    assert not [line for line in cli("topics", "list").lines if line.startswith("__")]


def test_create_describe_alter_delete(cli: Callable[..., Any], name: str) -> None:
    new = f"{name}-new"
    made = cli("topics", "create", new, "-p", "3", "-r", "1", "-c", "retention.ms=1000")
    assert (made.code, made.out, made.err) == (0, "", f"Created topic {new}.\n")
    described = cli("topics", "describe", new, "-O", "json").json()
    assert described["config"] == {"retention.ms": "1000"}
    assert [part["partition"] for part in described["partitions"]] == [0, 1, 2]
    assert cli("topics", "alter", new, "-c", "retention.ms=2000", "-c", "cleanup.policy=compact").code == 0
    assert cli("topics", "alter", new, "--delete-config", "cleanup.policy").code == 0
    assert yaml.safe_load(cli("topics", "describe", new, "-O", "yaml").out)["config"] == {
        "retention.ms": "2000"
    }
    assert "min.insync.replicas=1" in cli("topics", "describe", new, "--all").out
    assert (
        cli("topics", "add-partitions", new, "-p", "5").err
        == f"Topic {new} has 5 partitions now, 3 before.\n"
    )
    assert cli("topics", "delete", new, "--yes").err == f"Deleted {new}.\n"
    assert cli("topics", "describe", new).code == 3


def test_describe_for_people(cli: Callable[..., Any], name: str) -> None:
    assert cli("topics", "describe", name, "-O", "table").out == (
        f"{name}  2 partitions, replication 1, 0 records\n"
        "PARTITION  LEADER  REPLICAS  IN SYNC  BEGINNING  END\n"
        "        0       1  1         1                0    0\n"
        "        1       1  1         1                0    0\n"
    )


def test_count(cli: Callable[..., Any], name: str) -> None:
    cli("produce", name, "-p", "1", input="a\nb\n")
    assert cli("topics", "count", name).lines == [f"{name}\t2"]
    assert cli("topics", "count", name, "--per-partition").lines == [
        f"{name}\t0\t0\t0\t0",
        f"{name}\t1\t2\t0\t2",
    ]


def test_deleting_asks_first(cli: Callable[..., Any], name: str) -> None:
    refused = cli("topics", "delete", name)
    assert refused.code == 2
    assert "pass --yes if you are sure; nothing was changed" in refused.err
    assert cli("topics", "describe", name).code == 0


def test_what_is_there_or_not_may_be_fine(cli: Callable[..., Any], name: str) -> None:
    assert cli("topics", "create", name, "--if-not-exists").code == 0
    assert cli("topics", "delete", f"{name}-no", "--if-exists").code == 0
    assert cli("topics", "delete", f"{name}-no", "--yes").code == 3


def test_quiet_says_nothing(cli: Callable[..., Any], name: str) -> None:
    assert cli("-q", "topics", "create", f"{name}-q").err == ""
