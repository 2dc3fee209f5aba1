"""An app in a process of its own, seen and moved from other processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime.broker import Broker, until
from runtime.topologies import long_of

PROGRAM = Path(__file__).parent / "programs" / "shop.py"
QUICK = [
    "--conf",
    "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",
    "--conf",
    "spark.driver.memory=1g",
]


@pytest.fixture
def broker(kafka: Any) -> Broker:
    return Broker(kafka)


@pytest.fixture
def shop(topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, str]:
    """The id and the topics of the program, which it learns from the environment."""
    source, target = topic("words"), topic("counts")
    name = f"shop-{source}"
    monkeypatch.setenv("SHOP_TOPICS", f"{source},{target}")
    monkeypatch.setenv("SHOP_ID", name)
    return name, source, target


def counted(broker: Broker, target: str) -> dict[str, int]:
    return {read.key.decode(): long_of(read.value) for read in broker.read(target) if read.key is not None}


def described(cli: Callable[..., Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = cli("app", "describe", name, "-O", "json").json()
    return found


def ended(pid: int) -> int:
    """The exit code of a child that was asked to end."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_an_app_is_run_watched_stopped_and_restarted(
    cli: Callable[..., Any], broker: Broker, shop: tuple[str, str, str], tmp_path: Path
) -> None:
    name, source, target = shop
    command = [sys.executable, "-m", "tidemill.cli.main", "app", "run", str(PROGRAM), *QUICK]
    foreground = subprocess.Popen(
        [*command, "--set", "commit.interval.ms=100"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        until(lambda: cli("app", "list", "-O", "json").json()[:1] or foreground.poll() is not None, 120)
        until(lambda: cli("app", "list").out.startswith(f"{name}\tRUNNING\t{foreground.pid}\t"), 200)
        broker.produce(source, ({"value": word} for word in ("tea", "tea", "milk")))
        until(lambda: counted(broker, target) == {"TEA": 2, "MILK": 1}, 150)
        until(lambda: described(cli, name)["partitions"] and described(cli, name)["lag"] == 0, 120)
        told = described(cli, name)
        assert (told["state"], told["pid"]) == ("RUNNING", foreground.pid)
        assert told["partitions"][0]["current_offset"] == 3
        assert (told["source_topics"], told["sink_topics"]) == ([source], [target])
        assert told["stores"] == ["counts"]
        assert told["last_batch"] >= 0
        assert f"Source: stream-of-{source}" in cli("app", "describe", name, "--topology", "text").out
        assert cli("app", "describe", name, "--topology", "json").json()["stores"][0]["name"] == "counts"

        second = cli("app", "run", str(PROGRAM), "--detach")
        assert second.code == 1
        assert f"the app `{name}` runs already (process {foreground.pid})" in second.err
        refused = cli("app", "reset", name, "--yes")
        assert refused.code == 1
        assert "runs as process" in refused.err
        assert cli("app", "upgrade-check", name, str(PROGRAM)).code == 0

        stopped = cli("app", "stop", name)
        assert (stopped.code, foreground.wait(30)) == (0, 0), stopped.err
        assert foreground.stderr is not None
        said = foreground.stderr.read()
        assert f"{name} is RUNNING" in said
        assert f"{name} STOPPED  batch " in said
        assert "Traceback" not in said
    finally:
        foreground.kill()
    assert cli("app", "list").out.split("\t")[1:3] == ["STOPPED", "-"]
    assert "does not run: it is STOPPED" in cli("app", "stop", name).err

    broker.produce(source, [{"value": "tea"}])
    restarted = cli("app", "restart", name, "-O", "json")
    assert restarted.code == 0, restarted.err
    pid = restarted.json()["pid"]
    try:
        until(lambda: counted(broker, target) == {"TEA": 3, "MILK": 1}, 150)
        log = cli("app", "logs", name, "-n", "200").out
        assert log.count(f"{name} is RUNNING") == 2, "one log for both runs"
        assert "app   | " in cli("app", "logs", name, "--spark").out
        os.kill(pid, signal.SIGINT)
        assert ended(pid) == 0
    finally:
        kill(pid)
    assert cli("app", "list").out.split("\t")[1] == "STOPPED"
    # What is known of the app says nothing about a process that has the same pid today.
    folder = Path(told["folder"])
    (folder / "lock").write_text(str(os.getpid()))
    assert cli("app", "list").out.split("\t")[1:3] == ["STOPPED", "-"]


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def test_a_detached_app_that_fails_says_why(
    cli: Callable[..., Any], shop: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SHOP_TOPICS", "nowhere,nothing")
    failed = cli("app", "run", str(PROGRAM), "--detach", "--set", f"state.dir={tmp_path / 'own'}")
    assert failed.code == 3
    assert failed.err.startswith("Error: topic `nowhere` does not exist; `stream-of-nowhere` reads it")
    assert failed.err.count("\n") == 2
    told = cli("app", "describe", shop[0], "--state-dir", str(tmp_path / "own"), "-O", "json").json()
    assert told["state"] == "ERROR"
    assert "topic `nowhere` does not exist" in told["error"]
    assert cli("app", "restart", shop[0], "--state-dir", str(tmp_path / "own")).code == 3


def test_an_app_nobody_knows_is_not_found(tidemill: Callable[..., Any]) -> None:
    for words in (["describe"], ["stop"], ["restart"], ["logs"]):
        result = tidemill("app", *words, "no-such-app")
        assert result.code == 3, words
        assert "there is no app `no-such-app`" in result.err
    assert tidemill("app", "list", "-O", "json").json() == []


def test_an_app_that_was_killed_is_told_as_such(tidemill: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "state" / "gone"
    folder.mkdir(parents=True)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    run = {
        "application_id": "gone",
        "host": socket.gethostname(),
        "process": {"pid": dead.pid, "started": 1, "boot": "x"},
        "state": "RUNNING",
        "since": 0.0,
        "started": 0.0,
        "checkpoint": str(folder / "checkpoint"),
    }
    (folder / "run.json").write_text(json.dumps(run))
    (folder / "lock").write_text(str(dead.pid))
    listed = tidemill("app", "list", "--state-dir", str(tmp_path / "state"), "-b", "127.0.0.1:1")
    assert listed.out.startswith("gone\tKILLED\t-\t")
    assert "The lag of gone is not known" in listed.err
