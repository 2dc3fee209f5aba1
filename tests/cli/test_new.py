"""`tidemill new`: a project whose test passes at once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_project_passes_its_own_test(tidemill: Callable[..., Any], tmp_path: Path) -> None:
    made = tidemill("new", "shop", "--in", str(tmp_path))
    assert made.code == 0
    project = tmp_path / "shop"
    assert {file.name for file in project.iterdir()} == {
        "app.py",
        "test_app.py",
        "pyproject.toml",
        "Makefile",
        "README.md",
        ".gitignore",
        "local.mk",
    }
    assert "{{" not in "".join(file.read_text() for file in project.iterdir())
    done = subprocess.run(
        ["make", "test"], cwd=project, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    ruff = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--select",
        "E,F,I,B",
        "--line-length",
        "110",
    ]
    subprocess.run([*ruff, str(project)], check=True, capture_output=True)


def test_nothing_is_overwritten(tidemill: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "mine.txt").write_text("mine")
    refused = tidemill("new", "shop", "--in", str(tmp_path))
    assert refused.code == 2
    assert "there is something already" in refused.err
    assert [file.name for file in (tmp_path / "shop").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", ["Shop", "-x", "a b", "../up", ""])
def test_names_that_are_none(tidemill: Callable[..., Any], tmp_path: Path, name: str) -> None:
    assert tidemill("new", "--in", str(tmp_path), "--", name).code == 2
    assert list(tmp_path.iterdir()) == []
