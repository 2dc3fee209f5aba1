"""Habits of this repository: short files, every job listed, nothing in its text that has no place there."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 600
JOBS = ["demo", "test", "lint", "docs", "bench", "bench-quick", "fault", "conformance", "kernel", "clean"]

# Written backwards, so that this file passes its own test.
_FORBIDDEN_HOSTS = ["gro.ipyp", "gro.detsohnohtyp", "gro.nevam", "ehcapa.nevam", "oi.setarc", "moc.sjmpn"]
_FORBIDDEN_WORDS = ["odot", "emxif", "edualc", "ciporhtna", "tpgtahc", "iaNEPO", "tolipoc"]


@cache
def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def found(pattern: str, files: list[Path]) -> list[str]:
    lines = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(pattern, line, flags=re.IGNORECASE):
                lines.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    return lines


def test_no_source_file_is_long() -> None:
    sources = [file for file in tracked() if file.suffix in {".py", ".java"} and "tests" not in file.parts]
    lengths = {str(file.relative_to(ROOT)): file.read_text().count("\n") for file in sources}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_no_module_is_called_utils() -> None:
    assert not [file for file in tracked() if file.stem in {"utils", "util", "helpers", "misc", "common"}]


@pytest.mark.parametrize("backwards", _FORBIDDEN_HOSTS)
def test_no_package_host_is_named(backwards: str) -> None:
    assert found(re.escape(backwards[::-1]), tracked()) == []


@pytest.mark.parametrize("backwards", _FORBIDDEN_WORDS)
def test_nothing_is_left_open_or_unsigned(backwards: str) -> None:
    locked = [file for file in tracked() if "requirements" not in file.parts]
    assert found(rf"\b{re.escape(backwards[::-1])}\b", locked) == []


def test_every_module_says_what_it_is_for() -> None:
    silent = []
    for file in tracked():
        if file.suffix == ".py" and "src" in file.parts:
            text = file.read_text()
            if text.strip() and not text.lstrip().startswith(('"""', "#!")):
                silent.append(str(file.relative_to(ROOT)))
    assert [name for name in silent if not name.endswith("_version.py")] == []


@pytest.mark.parametrize("job", JOBS)
def test_make_help_lists_the_job(job: str) -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.search(rf"^  make {job} +\S", listed, flags=re.MULTILINE)
