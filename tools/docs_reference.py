"""Write the pages of docs/reference: the command line and the keys of StreamsConfig, as the code tells them.

`--check` writes nothing and fails where a page is not up to date.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"

INTRODUCTION = """\
# The command line

<!-- Written by tools/docs_reference.py from the commands themselves; `make docs` renews it. -->

Every command takes the common options of [`tidemill`](#tidemill) before its name or after it. Answers go to
standard output, everything said about them to standard error. In a pipe a table becomes tab-separated lines;
`-O` asks for `table`, `wide`, `json`, `jsonl` or `yaml`. The exit codes are on
[a page of their own](../errors.md).
"""


STREAMS_CONFIG = """\
# Keys of StreamsConfig

<!-- Written by tools/docs_reference.py from the table in the code; `make docs` renews it. -->

Every key of Kafka Streams' configuration is known. Some are honoured; some are taken without effect, because
Spark does not need them, so that a configuration can be brought along; some are refused, as results would
change if they were ignored. What an app has beyond these is on [the page of settings](../settings.md).
"""


def page() -> str:
    """The whole page."""
    os.environ.update(COLUMNS="100", NO_COLOR="1")
    return "\n".join([INTRODUCTION, *(_section(path, command) for path, command in tree())])


def streams_config() -> str:
    """What becomes of each key of Kafka Streams."""
    from tidemill.runtime.streams_config import STREAMS_KEYS, Fate

    parts = [STREAMS_CONFIG]
    for fate, title in (
        (Fate.HONOURED, "Honoured"),
        (Fate.NOT_NEEDED, "Taken, and not needed"),
        (Fate.REFUSED, "Refused, with what to do instead"),
    ):
        rows = [f"| `{key.name}` | {key.note} |" for key in STREAMS_KEYS if key.fate is fate]
        parts.append("\n".join([f"## {title}", "", "| key | |", "|---|---|", *rows, ""]))
    return "\n".join(parts)


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
    """Write the pages, or say whether they are up to date."""
    wanted = {REFERENCE / "cli.md": page(), REFERENCE / "streams-config.md": streams_config()}
    if "--check" in arguments:
        return 0 if all(path.exists() and path.read_text() == text for path, text in wanted.items()) else 1
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for path, text in wanted.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
