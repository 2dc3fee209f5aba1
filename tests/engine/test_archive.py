"""The class archive halves the work of a start, and never stands in its way."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tidemill.engine import archive
from tidemill.kafka.jars import jar_cache, resolve
from tidemill.kafka.java import find_java

Program = Callable[..., "subprocess.CompletedProcess[str]"]

START = """
import sys
from pathlib import Path
from tidemill.engine.session import spark_session

conf = {"spark.driver.extraJavaOptions": f"-Xlog:class+load:file={sys.argv[1]}/classes.txt"}
spark = spark_session("local[1]", log_file=Path(sys.argv[1]) / "spark.log", conf=conf)
print(spark.range(3).count())
spark.stop()
"""


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache; the jars stay where they are."""
    resolve("spark-kafka")
    monkeypatch.setenv("TIDEMILL_JARS", str(jar_cache()))
    monkeypatch.setenv("TIDEMILL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def place(cache: Path) -> Path:
    file = archive.archive_file(find_java())
    file.parent.mkdir(parents=True)
    return file


def fake_recording(monkeypatch: pytest.MonkeyPatch, *, code: int, writes: bytes | None) -> None:
    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        if writes is not None:
            Path(command[-1]).write_bytes(writes)
        return subprocess.CompletedProcess(command, code)

    monkeypatch.setattr(archive.subprocess, "run", run)


def test_without_an_archive_no_option_is_given(cache: Path) -> None:
    assert archive.use_options() == []


def test_archive_is_used_and_the_jvm_is_silent_about_it(place: Path) -> None:
    place.write_bytes(b"whatever")
    use, *quiet = archive.use_options()
    assert use.endswith(f"={place}")
    assert quiet == ["-Xlog:disable", "-Xlog:all=error:stderr"]


def test_another_kernel_gives_another_archive_of_the_same_installation(
    place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jar = tmp_path / "kernel.jar"
    monkeypatch.setattr(archive, "kernel_jar", lambda: jar)
    jar.write_bytes(b"one")
    one = archive.archive_file(find_java())
    jar.write_bytes(b"other")
    other = archive.archive_file(find_java())
    assert one != other
    assert one.name.rpartition("-")[0] == other.name.rpartition("-")[0]
    assert one.name.rpartition("-")[0] != place.name.rpartition("-")[0]


def test_new_archive_takes_the_place_of_the_old(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = place.with_name(f"{place.name.rpartition('-')[0]}-0123456789abcdef.jsa")
    other = place.with_name("spark-00000000-0123456789abcdef.jsa")
    old.write_bytes(b"old")
    other.write_bytes(b"of another installation")
    fake_recording(monkeypatch, code=0, writes=b"new")
    assert archive.build_archive() == place
    assert place.read_bytes() == b"new"
    assert not old.exists()
    assert other.exists()


@pytest.mark.parametrize(("code", "writes"), [(1, b"half"), (0, None), (1, None)])
def test_failed_recording_leaves_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch, code: int, writes: bytes | None
) -> None:
    fake_recording(monkeypatch, code=code, writes=writes)
    assert archive.build_archive() is None
    assert [file.name for file in place.parent.iterdir()] == [place.with_suffix(".lock").name]


def test_cache_that_cannot_be_written_costs_only_speed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TIDEMILL_CACHE_DIR", str(tmp_path / "file"))
    assert archive.build_archive() is None
    assert archive.use_options() == []


def test_spark_starts_with_an_archive_the_jvm_refuses(program: Program, place: Path, tmp_path: Path) -> None:
    place.write_bytes(b"no archive at all")
    done = program(START, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")


@pytest.mark.slow
def test_second_start_takes_its_classes_from_the_archive(
    program: Program, place: Path, tmp_path: Path
) -> None:
    assert archive.build_archive() == place
    done = program(START, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")
    loaded = (tmp_path / "classes.txt").read_text().splitlines()
    archived = [line for line in loaded if "shared objects file" in line]
    assert len(archived) > 0.8 * len(loaded)
