"""On a terminal: tables, colours, and a question before something is destroyed."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest


def on_terminal(*words: str, answer: str = "", **environment: str) -> tuple[int, str]:
    """Run the command with a terminal for all its streams."""
    leader, follower = pty.openpty()
    variables = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "tidemill.cli.main", *words],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=variables,
    )
    os.close(follower)
    if answer:
        os.write(leader, answer.encode())
    output = b""
    while True:
        try:
            chunk = os.read(leader, 4096)
        except OSError:
            break
        if not chunk:
            break
        output += chunk
    os.close(leader)
    return process.wait(30), output.decode().replace("\r\n", "\n")


@pytest.fixture
def brokers(kafka: Any) -> dict[str, str]:
    return {"TIDEMILL_BOOTSTRAP_SERVER": kafka.bootstrap_servers}


def test_tables(topic: Callable[..., str], brokers: dict[str, str]) -> None:
    name = topic("t")
    code, text = on_terminal("topics", "list", **brokers)
    assert code == 0
    assert "TOPIC" in text
    assert "───" in text
    assert name in text


def test_colours_unless_unwanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\033[" not in on_terminal("--help")[1]
    monkeypatch.delenv("NO_COLOR")
    assert "\033[1mOptions:\033[0m" in on_terminal("--help")[1]
    _, error = on_terminal("dev", "status")
    assert error.startswith("\033[1;31mError:\033[0m")
    assert "\033[" not in on_terminal("dev", "status", "--no-color")[1]


def test_a_question_is_asked(
    topic: Callable[..., str], brokers: dict[str, str], cli: Callable[..., Any]
) -> None:
    name = topic()
    code, text = on_terminal("topics", "delete", name, answer="n\n", **brokers)
    assert code == 1
    assert f"Delete {name} with all records? [y/N]" in text
    assert "Nothing was changed." in text
    assert cli("topics", "describe", name).code == 0
    code, text = on_terminal("topics", "delete", name, answer="y\n", **brokers)
    assert (code, f"Deleted {name}." in text) == (0, True)
    assert cli("topics", "describe", name).code == 3


def test_records_have_their_place(
    topic: Callable[..., str], brokers: dict[str, str], cli: Callable[..., Any]
) -> None:
    name = topic()
    cli("produce", name, "-k", "ann", input="1\n")
    code, text = on_terminal("consume", name, "-e", **brokers)
    assert code == 0
    assert f"{name}[0]@0" in text
    assert "ann → 1\n" in text
    assert text.endswith("1 record\n")


def test_the_dev_cluster_introduces_itself() -> None:
    code, text = on_terminal("dev", "up", "--port", "0", "--detach")
    try:
        assert code == 0, text
        for word in ("Kafka is up", "bootstrap", "tidemill dev down", "tidemill topics create orders"):
            assert word in text
    finally:
        on_terminal("dev", "down", "--purge", "--yes")
