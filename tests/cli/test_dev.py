"""`tidemill dev` and `tidemill doctor`: a cluster that other commands find, and stops when told."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_a_detached_cluster_is_found_and_stopped(tidemill: Callable[..., Any]) -> None:
    up = tidemill("dev", "up", "--port", "0", "--detach", "--secure", "sasl", "-O", "json")
    assert up.code == 0, up.err
    try:
        assert up.json()["state"] == "running"
        assert tidemill("topics", "create", "found").code == 0
        assert "found\t1\t1" in tidemill("topics", "list").lines
        settings = tidemill("config", "show").out
        assert "dev cluster default" in settings
        assert "sasl.password\t***" in settings
        status = tidemill("dev", "status")
        assert (status.code, status.lines[0].split("\t")[:2]) == (0, ["default", "running"])
        assert tidemill("dev", "logs", "-n", "5").code == 0
        again = tidemill("dev", "up", "--detach")
        assert (again.code, "runs already" in again.err) == (1, True)
        assert tidemill("dev", "down", "--purge").code == 2
    finally:
        assert tidemill("dev", "down", "--purge", "--yes").code == 0
    assert tidemill("dev", "status").code == 3
    assert tidemill("dev", "down").code == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_in_the_foreground_a_signal_stops_everything(
    tidemill: Callable[..., Any], number: signal.Signals
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tidemill.cli.main", "dev", "up", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # A run that a shell put into the background would hand its ignored SIGINT down to the command.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert tidemill("-b", address, "topics", "list").code == 0
        (row,) = tidemill("dev", "status", "-O", "json").json()
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert "Stopped; the records stay in" in err
    assert not [pid for pid in row["pids"] if alive(pid)]


def alive(pid: int) -> bool:
    """Whether the process still runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_stopped_from_another_terminal_it_ends(tidemill: Callable[..., Any]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tidemill.cli.main", "dev", "up", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline().strip()
        assert tidemill("dev", "down").code == 0
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, "Error" in err) == (0, False)


def test_doctor_of_a_healthy_machine(cli: Callable[..., Any]) -> None:
    result = cli("doctor", "-O", "json")
    found = {row["check"]: row for row in result.json()}
    assert result.code == 0
    assert {"python", "clock", "java", "memory", "disk", "cache", "data", "spark", "jars", "broker"} <= set(
        found
    )
    assert found["broker"]["status"] == "ok"
    assert "transaction.version=2" in found["features"]["detail"]
    assert cli("doctor").lines[0].startswith("ok\tpython\t")


def test_doctor_fails_where_the_named_broker_is_dead(tidemill: Callable[..., Any]) -> None:
    result = tidemill("doctor", "-b", "127.0.0.1:1", "-O", "json")
    assert result.code == 1
    (broker,) = [row for row in result.json() if row["check"] == "broker"]
    assert (broker["status"], "no broker answered" in broker["detail"]) == ("fail", True)


def test_doctor_only_remarks_that_none_runs(
    tidemill: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemill.cli.session.DEFAULT_BOOTSTRAP", "127.0.0.1:1")
    result = tidemill("doctor", "-O", "json")
    (broker,) = [row for row in result.json() if row["check"] == "broker"]
    assert (result.code, broker["status"]) == (0, "warn")
    assert "tidemill dev up" in broker["remedy"]


def test_doctor_tells_of_a_directory_that_cannot_be_written(
    tidemill: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMILL_DATA_DIR", "/proc/self/nothing")
    monkeypatch.setattr("tidemill.cli.checks.os.access", lambda *_: False)
    monkeypatch.setattr("tidemill.cli.session.DEFAULT_BOOTSTRAP", "127.0.0.1:1")
    result = tidemill("doctor", "-O", "json")
    assert result.code == 1
    (data,) = [row for row in result.json() if row["check"] == "data"]
    assert (data["status"], "TIDEMILL_DATA_DIR" in data["remedy"]) == ("fail", True)
