"""`tidemill new`: the skeleton of a project, whose test passes at once."""

from __future__ import annotations

import re
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from tidemill import __version__
from tidemill.cli.help import Command, single
from tidemill.cli.options import session
from tidemill.cli.session import Session
from tidemill.errors import UsageError

app = single()

_FILES = {
    "app.py.txt": "app.py",
    "test_app.py.txt": "test_app.py",
    "pyproject.toml.txt": "pyproject.toml",
    "Makefile.txt": "Makefile",
    "README.md.txt": "README.md",
    "gitignore.txt": ".gitignore",
}
# What a Python distribution and a Kafka topic may both be called.
_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")


@app.command("new", cls=Command)
@session
def new(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the project and of its folder.")],
    folder: Annotated[
        Path | None, typer.Option("--in", metavar="FOLDER", help="Where to put it, if not here.")
    ] = None,
) -> None:
    """Make a project: an app, a test with the driver, and what is needed around them.

    Nothing is overwritten: the project's folder must not be there yet, or be empty.

    Example:

        $ tidemill new shop && cd shop && make test
        $ tidemill new shop --in ~/projects
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"`{name}` is no name for a project",
            remedy="use lower-case letters, digits and `-`, such as shop",
        )
    target = (folder or Path()) / name
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError("there is something already", where=str(target), remedy="choose another name")
    try:
        _write(target, name)
    except OSError as error:
        raise UsageError(f"the project cannot be written: {error.strerror}", where=str(target)) from error
    if session.out.is_data:
        session.out.data({"name": name, "folder": str(target), "files": [*_FILES.values(), "local.mk"]})
        return
    session.out.line(f"Made {target}: {', '.join(_FILES.values())}")
    session.out.note(f"Next: cd {target} && make test; make help lists the other jobs.")


def _write(target: Path, name: str) -> None:
    target.mkdir(parents=True, exist_ok=True)
    templates = files("tidemill.cli") / "project"
    for source, file in _FILES.items():
        text = (templates / source).read_text(encoding="utf-8")
        text = text.replace("{{name}}", name).replace("{{version}}", __version__)
        (target / file).write_text(text, encoding="utf-8")
    # Of this machine alone, and left out of version control: which Python has Tidemill.
    (target / "local.mk").write_text(f"PYTHON := {sys.executable}\n", encoding="utf-8")
