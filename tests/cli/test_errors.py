"""What goes wrong is told in one paragraph with the right exit code, and never as a trace."""

import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

DEAD = "127.0.0.1:1"


def test_every_paragraph(
    cli: Callable[..., Any], topic: Callable[..., str], kafka: Any, golden: Callable[[str, str], None]
) -> None:
    name = topic(partitions=2)
    calls = [
        ["topics", "describe", "no-such-topic"],
        ["topics", "create", name],
        ["topics", "create", "new", "-p", "0"],
        ["topics", "create", "new", "-r", "5"],
        ["topics", "create", "new", "-c", "no.such.config=1"],
        ["topics", "create", "new", "-c", "retention.ms=soon"],
        ["topics", "create", "b/d"],
        ["topics", "alter", name],
        ["topics", "add-partitions", name, "-p", "1"],
        ["topics", "delete", name],
        ["consume", name, "-p", "7"],
        ["consume", name, "-o", "middle"],
        ["groups", "describe", "no-such-group"],
        ["groups", "reset-offsets", "no-such-group", "--all-topics", "--to-latest"],
        ["topics", "list", "-X", "no.such.setting=1"],
        ["topics", "list", "-X", "nonsense"],
        ["topics", "list", "-X", "ssl.truststore.location=/store.jks"],
        ["topics", "list", "--command-config", "/no/such.properties"],
        ["topics", "list", "--profile", "no-such-profile"],
        ["topics", "list", "-X", "sasl.password=${env:NOT_SET_ANYWHERE}"],
        ["topics", "list", "-b", DEAD],
        ["topics", "list", "-b", "no-such-host.invalid:9092"],
        ["dev", "status"],
        ["dev", "down", "--name", "a/b"],
    ]
    texts = []
    for words in calls:
        result = cli(*words)
        told = result.err.replace(name, "TOPIC").replace(kafka.bootstrap_servers, "BROKER")
        told = re.sub(r"/\S*/config\.toml", "CONFIG", told)
        shown = " ".join(words).replace(name, "TOPIC")
        texts.append(f"$ tidemill {shown}\n{told}[exit code {result.code}]\n")
    golden("errors.txt", "\n".join(texts))


def test_unreachable_fails_fast(tidemill: Callable[..., Any]) -> None:
    for words in (["topics", "list"], ["consume", "t"]):
        before = time.monotonic()
        result = tidemill("-b", DEAD, *words)
        assert result.code == 5
        assert "no broker answered" in result.err
        assert time.monotonic() - before < 10


def test_the_trace_is_for_the_verbose(cli: Callable[..., Any]) -> None:
    assert "Traceback" not in cli("topics", "describe", "no-such-topic").err
    assert "Traceback" in cli("topics", "describe", "no-such-topic", "--verbose").err


def test_a_fault_of_our_own_is_no_trace_either(
    tidemill: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("tidemill.cli.version.package_version", broken)
    result = tidemill("version")
    assert result.code == 1
    assert (
        result.err
        == "Error: ZeroDivisionError: division by zero\nRemedy: run again with --verbose to see where\n"
    )


def test_the_clients_own_log_is_not_shown() -> None:
    command = [sys.executable, "-m", "tidemill.cli.main", "topics", "list", "-b", DEAD]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 5
    assert len(done.stderr.splitlines()) == 2
    loud = subprocess.run([*command, "-v"], capture_output=True, text=True, timeout=60)
    assert "|FAIL|" in loud.stderr
