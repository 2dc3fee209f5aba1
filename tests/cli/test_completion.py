"""Completion: scripts for four shells, and names from the cluster within a blink."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_scripts(tidemill: Callable[..., Any], shell: str) -> None:
    result = tidemill("completion", shell)
    assert result.code == 0
    assert f"complete_{shell if shell != 'powershell' else 'powershell'}" in result.out


def complete(line: str, **environment: str) -> list[str]:
    words = {
        "_TIDEMILL_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tidemill.cli.main"],
        env={**os.environ, **words, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_commands_and_options() -> None:
    assert complete("tidemill topi") == ["topics"]
    assert "add-partitions" in complete("tidemill topics a")
    assert "--if-not-exists" in complete("tidemill topics create --if")


def test_topic_names(kafka: Any, topic: Callable[..., str]) -> None:
    name = topic("unmistakable")
    assert complete("tidemill consume unm", TIDEMILL_BOOTSTRAP_SERVER=kafka.bootstrap_servers) == [name]
    assert complete(f"tidemill -b {kafka.bootstrap_servers} topics describe unm") == [name]


def test_a_dead_cluster_does_not_hold_up_the_shell() -> None:
    before = time.monotonic()
    assert complete("tidemill consume x", TIDEMILL_BOOTSTRAP_SERVER="127.0.0.1:1") == []
    assert time.monotonic() - before < 5
