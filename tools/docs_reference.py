"""Write docs/reference/cli.md: the command line as the commands themselves tell it.

`--check` writes nothing and fails where the page is not up to date.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "reference" / "cli.md"

INTRODUCTION = """\
# The command line

<!-- Written by tools/docs_reference.py from the commands themselves; `make docs` renews it. -->

Every command takes the common options of [`tidemill`](#tidemill) before its name or after it. Answers go to
standard output, everything said about them to standard error. In a pipe a table becomes tab-separated lines;
`-O` asks for `table`, `wide`, `json`, `jsonl` or `yaml`. The exit codes are on
[a page of their own](../errors.md).
"""


def page() -> str:
    """The whole page."""
    os.environ.update(COLUMNS="100", NO_COLOR="1")
    return "\n".join([INTRODUCTION, *(_section(path, command) for path, command in tree())])


def tree() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with the words that call it, groups before what is in them."""
    import typer

    from tidemill.cli.main import app

    yield from _below(("tidemill",), typer.main.get_command(app))


def _below(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from _below((*path, name), command.get_command(None, name))


def _section(path: tuple[str, ...], command: Any) -> str:
    import typer

    context = typer.Context(command, info_name=" ".join(path), max_content_width=100, terminal_width=100)
    text = re.sub(r"[ \t]+$", "", command.get_help(context), flags=re.MULTILINE).strip("\n")
    return f"{'#' * min(len(path) + 1, 4)} {' '.join(path)}\n\n```text\n{text}\n```\n"


def main(arguments: list[str]) -> int:
    """Write the page, or say whether it is up to date."""
    wanted = page()
    if "--check" in arguments:
        return 0 if TARGET.exists() and TARGET.read_text() == wanted else 1
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
