"""The look of `--help`: plain text that starts fast, examples kept as written, commands loaded on demand."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# The overridden methods keep their signature: ARG002 below is the price of fitting in.

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_COMMON = "Connection and output options (-b, -X, -O, --yes, ...) go here too: see tidemill --help."


@dataclass(frozen=True)
class Entry:
    """A command of the root: the room it lives in is imported only when it is called."""

    module: str
    help: str
    aliases: tuple[str, ...] = ()


class Command(TyperCommand):
    """A leaf command."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        _write_text(self.help, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        formatter.write("\n")
        formatter.write_text(_COMMON)

    def get_help(self, ctx: Any) -> str:
        return paint(super().get_help(ctx))


class Group(TyperGroup):
    """A group of commands."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        _write_text(self.help, formatter)

    def get_help(self, ctx: Any) -> str:
        return paint(super().get_help(ctx))


class RootGroup(Group):
    """The root: lists its commands without importing them."""

    entries: Mapping[str, Entry] = {}

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.entries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        for name, entry in self.entries.items():
            if cmd_name == name or cmd_name in entry.aliases:
                command = typer.main.get_command(import_module(entry.module).app)
                command.name = name
                return command
        return None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self._words() and not args[0].startswith("-"):
            near = get_close_matches(args[0], list(self._words()))
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.entries.items()])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        if incomplete and not incomplete.startswith("-"):
            from typer._click.shell_completion import CompletionItem

            return [
                CompletionItem(name, help=entry.help)
                for name, entry in self.entries.items()
                if name.startswith(incomplete)
            ]
        return super().shell_complete(ctx, incomplete)

    def _words(self) -> set[str]:
        return {word for name, entry in self.entries.items() for word in (name, *entry.aliases)}


def group(name: str, text: str) -> typer.Typer:
    """A Typer app for a group of commands in our look."""
    app = typer.Typer(
        name=name,
        help=text,
        cls=Group,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        context_settings=CONTEXT,
    )

    @app.callback()
    def callback() -> None:
        pass

    callback.__doc__ = text
    return app


def single() -> typer.Typer:
    """A Typer app for one command in our look."""
    return typer.Typer(add_completion=False, rich_markup_mode=None)


def use_color(stream: Any) -> bool:
    """Whether escape codes belong on this stream."""
    return bool(stream.isatty()) and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def paint(text: str) -> str:
    """Bold headings and coloured option names, on a terminal only."""
    if not use_color(sys.stdout):
        return text
    text = re.sub(r"^(\w[\w ]*:)(?=$| )", "\033[1m\\1\033[0m", text, flags=re.MULTILINE)
    text = re.sub(r"^(  )(-[^\n]*?|[a-z][\w-]*)(?=  |$)", "\\1\033[36m\\2\033[0m", text, flags=re.MULTILINE)
    return re.sub(r"^( +)(\$ .*)$", "\\1\033[2m\\2\033[0m", text, flags=re.MULTILINE)


def _write_text(text: str | None, formatter: Any) -> None:
    for paragraph in re.split(r"\n\s*\n", (text or "").rstrip()):
        formatter.write("\n")
        if paragraph.startswith(" "):
            formatter.write("".join(f"  {line.strip()}\n" for line in paragraph.splitlines()))
        else:
            formatter.write_text(" ".join(paragraph.split()))
