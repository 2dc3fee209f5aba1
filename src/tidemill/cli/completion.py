"""`tidemill completion`: the script that lets a shell complete commands, options and topic names."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated, Any

import typer

from tidemill.cli.help import Command, single
from tidemill.cli.options import session
from tidemill.cli.session import Session

app = single()

VARIABLE = "_TIDEMILL_COMPLETE"


class Shell(StrEnum):
    """Shells with a script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"
    powershell = "powershell"


@app.command("completion", cls=Command)
@session
def completion(session: Session, shell: Annotated[Shell, typer.Argument(help="Which shell.")]) -> None:
    """Print the completion script of a shell.

    Example:

        $ eval "$(tidemill completion bash)"
        $ tidemill completion zsh > ~/.zfunc/_tidemill
        $ tidemill completion fish > ~/.config/fish/completions/tidemill.fish
    """
    script = _typer().get_completion_script(prog_name="tidemill", complete_var=VARIABLE, shell=shell.value)
    session.out.line(script)


def answer(command: Any) -> int:
    """Answer the shell that asks through the script."""
    machinery = _typer()
    machinery.completion_init()
    return int(machinery.shell_complete(command, {}, "tidemill", VARIABLE, os.environ[VARIABLE]))


def _typer() -> Any:
    """Typer's own completion; untyped, because it re-exports its names only implicitly."""
    import typer.completion

    return typer.completion
