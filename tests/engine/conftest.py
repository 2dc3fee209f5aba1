"""A way to run a program in a process of its own, as on a machine that has only what is named."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Program = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def program() -> Program:
    """Run Python source with changes to the environment; None takes a variable away."""

    def run(source: str, *arguments: object, **changes: str | None) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **changes}
        return subprocess.run(
            [sys.executable, "-c", source, *map(str, arguments)],
            env={name: value for name, value in environment.items() if value is not None},
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )

    return run


@pytest.fixture
def path_without_java(tmp_path: Path) -> Path:
    """A directory with every usual command except Java's, and a `chmod` that leaves a note of each call."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for place in (Path("/bin"), Path("/usr/bin")):
        for command in place.iterdir():
            if not command.name.startswith("java") and not (folder / command.name).is_symlink():
                (folder / command.name).symlink_to(command)
    (folder / "chmod").unlink()
    (folder / "chmod").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/chmod.log\nexec /bin/chmod "$@"\n')
    (folder / "chmod").chmod(0o755)
    return folder
