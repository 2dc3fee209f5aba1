"""Runs what an example's README says to type, in this process, and tells what it would print."""

from __future__ import annotations

import io
import os
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from tidemill.cli.main import run

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
NAMES = sorted(folder.name for folder in EXAMPLES.iterdir() if (folder / "app.py").exists())

_BLOCK = re.compile(r"^```console\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@dataclass
class Step:
    """A command, and the lines that follow it."""

    command: str
    printed: list[str]


def steps(name: str) -> list[Step]:
    """The commands of the README's block that runs the app."""
    (block,) = [block for block in _blocks(name) if f"{name}/app.py" in block]
    found: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Step(line.removeprefix("$ "), []))
        else:
            found[-1].printed.append(line)
    return found


def rewritten(name: str, told: list[Step]) -> None:
    """Put what was printed into the README."""
    path = EXAMPLES / name / "README.md"
    text = path.read_text(encoding="utf-8")
    (block,) = [block for block in _blocks(name) if f"{name}/app.py" in block]
    lines = [line for step in told for line in (f"$ {step.command}", *step.printed)]
    path.write_text(text.replace(block, "\n".join(lines) + "\n"), encoding="utf-8")


def printed_by(command: str) -> list[str]:
    """What a command prints, on both streams, as a terminal shows it."""
    before, _, after = command.partition(" | ")
    words = shlex.split(before)
    if words[0] == "tidemill":
        lines = _captured(lambda: run(words[1:]))
    else:
        assert words[0] == "python"
        lines = _captured(lambda: _script(words[1], words[1:]))
    if after:
        assert after == "sort"
        lines.sort()
    return lines


def _blocks(name: str) -> Iterator[str]:
    text = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    yield from _BLOCK.findall(text)


def _script(path: str, arguments: list[str]) -> int:
    with mock.patch.object(sys, "argv", arguments):
        runpy.run_path(str(ROOT / path), run_name="__main__")
    return 0


def _captured(call: object) -> list[str]:
    assert callable(call)
    data = io.BytesIO()
    out = io.TextIOWrapper(data, encoding="utf-8", write_through=True)
    here = Path.cwd()
    os.chdir(ROOT)
    try:
        with redirect_stdout(out), redirect_stderr(out):
            code = call()
    finally:
        os.chdir(here)
    out.flush()
    text = data.getvalue().decode()
    assert code == 0, text
    return text.splitlines()
