"""The demo runs from nothing to checked results, and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "tidemill.cli.main", "demo"]


@pytest.fixture
def places(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment whose temporary files are in one place, which must be empty at the end."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    yield {**os.environ, "TMPDIR": str(temporary)}
    assert [file for file in temporary.iterdir() if "demo" in file.name] == []
    assert _processes_below(temporary) == []


def _processes_below(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if str(folder) in command:
                found.append(command.replace("\0", " ")[:200])
    return found


def test_demo_shows_sums_that_are_right(places: dict[str, str], tmp_path: Path) -> None:
    picture = tmp_path / "demo.svg"
    done = subprocess.run(
        [*COMMAND, "--seconds", "12", "--picture", str(picture)],
        env=places,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(rows) > 10
    assert {row[0] for row in rows} == {"sums"}
    assert {row[1].partition("@")[0] for row in rows} == {"blue", "green", "red"}
    for _, window, total in rows:
        start, end = window.partition("@")[2].split("/")
        assert int(end) - int(start) == 10_000
        assert int(total) > 0
    assert "every sum is what plain Python makes of the numbers" in done.stderr
    for step in ("Jars", "Spark", "Kafka, topics and records", "Pipeline", "First batch", "First result"):
        assert step in done.stderr
    assert "Left on disk: " in done.stderr
    drawn = picture.read_text()
    assert "aggregate-rolling-sum" in drawn.replace("&#160;", " ")
    assert "http" not in drawn.replace("http://www.w3.org/", "")


def test_demo_of_another_example(places: dict[str, str]) -> None:
    """A stream joined with a table, and rows as data."""
    done = subprocess.run(
        [*COMMAND, "fraud", "--seconds", "3", "--rate", "100", "-O", "jsonl"],
        env=places,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["topic"] for row in rows} == {"suspicions", "alerts"}
    assert all(row["value"]["reason"] in {"over the limit", "abroad"} for row in rows if "start" not in row)
    assert "records in" in done.stderr


def test_interrupted_demo_checks_and_cleans_up(places: dict[str, str]) -> None:
    process = subprocess.Popen(COMMAND, env=places, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().count("\t") == 2
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert "every sum" in said
    assert "Traceback" not in said


def test_demo_interrupted_before_its_first_result_cleans_up_too(places: dict[str, str]) -> None:
    process = subprocess.Popen(COMMAND, env=places, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while "Kafka, topics" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Left on disk: " in said
    assert "Traceback" not in said
