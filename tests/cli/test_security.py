"""Logins and rights against a secured broker: all ways in, and what is told at a closed door."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def words(config: dict[str, str]) -> list[str]:
    return [word for name, value in config.items() for word in ("-X", f"{name}={value}")]


def write_properties(path: Path, config: dict[str, str]) -> str:
    path.write_text("".join(f"{name}={value}\n" for name, value in config.items()))
    return str(path)


@pytest.mark.parametrize("door", ["sasl", "tls", "scram"])
def test_every_door_in_both_dialects(
    tidemill: Callable[..., Any], secure_kafka: Any, tmp_path: Path, door: str
) -> None:
    native = write_properties(tmp_path / "a.properties", secure_kafka.client_config("alice", door))
    java = write_properties(tmp_path / "b.properties", secure_kafka.java_client_config("alice", door))
    for number, file in enumerate((native, java)):
        name = f"{door}-{number}"
        assert tidemill("--command-config", file, "topics", "create", name).code == 0
        assert tidemill("produce", name, "--command-config", file, input="x\n").code == 0
        assert tidemill("consume", name, "-e", "--command-config", file).out == "x\n"


@pytest.mark.parametrize("door", ["sasl", "scram"])
def test_a_wrong_password_fails_at_once(tidemill: Callable[..., Any], secure_kafka: Any, door: str) -> None:
    config = {**secure_kafka.client_config("alice", door), "sasl.password": "not-the-password"}
    for command in (["topics", "list"], ["consume", "t"], ["produce", "t"], ["groups", "list"]):
        before = time.monotonic()
        result = tidemill(*words(config), *command)
        assert result.code == 4
        assert "the broker refused the login" in result.err
        assert "not-the-password" not in result.err
        assert time.monotonic() - before < 5


def test_a_stranger_is_denied(tidemill: Callable[..., Any], secure_kafka: Any) -> None:
    bob = words(secure_kafka.client_config("bob", "sasl"))
    alice = words(secure_kafka.client_config("alice", "sasl"))
    assert tidemill(*alice, "topics", "create", "private", "--if-not-exists").code == 0
    for command in (
        ["topics", "create", "mine"],
        ["topics", "describe", "private"],
        ["topics", "delete", "private", "--yes"],
        ["consume", "private", "-e"],
        ["produce", "private"],
        ["groups", "describe", "g"],
        ["groups", "reset-offsets", "g", "--topic", "private", "--to-latest", "--execute"],
    ):
        result = tidemill(*bob, *command, input="x\n")
        assert (result.code, "not authorised for" in result.err) == (4, True), (command, result.err)


def test_a_wrong_authority_is_told(tidemill: Callable[..., Any], secure_kafka: Any, tmp_path: Path) -> None:
    config = secure_kafka.client_config("alice", "tls")
    wrong = tmp_path / "ca.pem"
    wrong.write_text(Path(config["ssl.certificate.location"]).read_text())
    result = tidemill(*words({**config, "ssl.ca.location": str(wrong)}), "topics", "list")
    assert result.code == 4
    assert "the TLS connection failed" in result.err


def test_speaking_plain_to_a_secured_door_is_explained(
    tidemill: Callable[..., Any], secure_kafka: Any
) -> None:
    result = tidemill("-b", secure_kafka.addresses("sasl"), "topics", "list")
    assert result.code == 5
    assert "the listener may want TLS or SASL: set security.protocol" in result.err


def test_a_password_from_the_environment_is_used_and_not_shown(
    tidemill: Callable[..., Any], secure_kafka: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = secure_kafka.client_config("alice", "sasl")
    monkeypatch.setenv("ALICE_PASSWORD", config["sasl.password"])
    for name, value in {**config, "sasl.password": "${env:ALICE_PASSWORD}"}.items():
        assert tidemill("config", "set", name, value, "--profile", "locked").code == 0
    assert tidemill("--profile", "locked", "topics", "list").code == 0
    shown = tidemill("config", "show", "--profile", "locked").out
    assert "${env:ALICE_PASSWORD}" in shown
    assert config["sasl.password"] not in shown
