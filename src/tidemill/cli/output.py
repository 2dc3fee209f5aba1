"""What commands print: tables for people, tab-separated lines for pipes, JSON and YAML for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tidemill.cli.help import use_color
from tidemill.errors import UsageError


class OutputFormat(StrEnum):
    """The formats of `-O`."""

    table = "table"
    json = "json"
    jsonl = "jsonl"
    yaml = "yaml"
    wide = "wide"


@dataclass(frozen=True)
class Column:
    """A column of a table: the key of the row it shows, and how."""

    key: str
    title: str
    wide: bool = False
    right: bool = False
    show: Callable[[Any], str] | None = None

    def text(self, row: Mapping[str, Any]) -> str:
        value = row.get(self.key)
        if self.show is not None:
            return self.show(value)
        if value is None:
            return "-"
        if isinstance(value, list | tuple):
            return ",".join(str(item) for item in value)
        return str(value)


class Output:
    """Standard output for data, standard error for everything said about it."""

    def __init__(self, form: OutputFormat | None, *, color: bool = True, quiet: bool = False) -> None:
        self.form = form
        self.quiet = quiet
        self._color = color

    @property
    def is_data(self) -> bool:
        """Whether a program reads this."""
        return self.form in {OutputFormat.json, OutputFormat.jsonl, OutputFormat.yaml}

    @property
    def on_terminal(self) -> bool:
        return sys.stdout.isatty()

    @property
    def color(self) -> bool:
        return self._color and use_color(sys.stdout)

    def rows(self, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], *, empty: str = "") -> None:
        """A list of things, in the format asked for."""
        if self.is_data:
            self.data(list(rows))
            return
        shown = [column for column in columns if self.form is OutputFormat.wide or not column.wide]
        cells = [[column.text(row) for column in shown] for row in rows]
        if not cells and (empty or self.on_terminal):
            if empty:
                self.note(empty)
        elif self.on_terminal:
            self._table(shown, cells)
        elif self.form is None:
            _write("".join("\t".join(line) + "\n" for line in cells))
        else:
            _write(aligned([[column.title for column in shown], *cells], shown))

    def document(self, data: Any, show: Callable[[], None]) -> None:
        """One thing: as data for programs, else as `show` draws it."""
        if self.is_data:
            self.data(data)
        else:
            show()

    def data(self, data: Any) -> None:
        """Data as JSON, JSON lines or YAML."""
        if self.form is OutputFormat.yaml:
            import yaml

            _write(yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
        elif self.form is OutputFormat.jsonl:
            items = data if isinstance(data, list) else [data]
            _write("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items))
        else:
            _write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")

    def line(self, text: str = "") -> None:
        """A line of the answer."""
        _write(text + "\n")

    def bold(self, text: str) -> str:
        return f"\033[1m{text}\033[0m" if self.color else text

    def note(self, text: str) -> None:
        """Something about the answer, on standard error; `--quiet` keeps it back."""
        if not self.quiet:
            self.say(text)

    def say(self, text: str, *, style: str = "2") -> None:
        """A line on standard error."""
        painted = f"\033[{style}m{text}\033[0m" if self._color and use_color(sys.stderr) else text
        sys.stdout.flush()
        sys.stderr.write(painted + "\n")
        sys.stderr.flush()

    def _table(self, columns: Sequence[Column], cells: Iterable[Sequence[str]]) -> None:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
        for column in columns:
            table.add_column(column.title, justify="right" if column.right else "left", overflow="fold")
        for line in cells:
            table.add_row(*(Text(cell) for cell in line))
        Console(file=sys.stdout, no_color=not self.color, highlight=False).print(table)


def confirm(question: str, *, yes: bool) -> bool:
    """Ask before something is destroyed; `--yes` answers, and without a terminal nothing is guessed."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError(
            f"{question} This needs a yes, and there is no terminal to ask on",
            remedy="pass --yes if you are sure; nothing was changed",
        )
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def aligned(lines: Sequence[Sequence[str]], columns: Sequence[Column]) -> str:
    """Lines in columns of spaces."""
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    out = []
    for line in lines:
        cells = (
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        )
        out.append("  ".join(cells).rstrip() + "\n")
    return "".join(out)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
