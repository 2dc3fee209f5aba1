"""The documentation builds without a warning, and its command line page is what the commands say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_command_line_reference_is_up_to_date() -> None:
    done = subprocess.run([sys.executable, "tools/docs_reference.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run `make docs`"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


def test_site_builds_without_a_warning(site: Path) -> None:
    assert (site / "index.html").is_file()
    assert (site / "api" / "dsl" / "index.html").read_text().count("group_by_key") > 1


def test_site_loads_nothing_from_elsewhere(site: Path) -> None:
    loaded = set()
    for page in site.rglob("*.html"):
        loaded |= set(
            re.findall(r'<(?:script|img|link)[^>]+(?:src|href)="(https?://[^"]+)"', page.read_text())
        )
    assert loaded == set()
