"""The options every command has, before its name or after it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from tidemill.cli.output import OutputFormat
from tidemill.cli.session import Options, Session


def common(
    bootstrap_server: Annotated[
        str | None,
        typer.Option(
            "-b",
            "--bootstrap-server",
            "--bootstrap-servers",
            metavar="HOST:PORT,...",
            help="Brokers; else TIDEMILL_BOOTSTRAP_SERVER, else the dev cluster, else 127.0.0.1:9092.",
        ),
    ] = None,
    command_config: Annotated[
        Path | None,
        typer.Option(
            "--command-config", metavar="FILE", help="Properties file of client settings; Java names work."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "-X", metavar="NAME=VALUE", help="One client setting, Java's or librdkafka's; repeatable."
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile", metavar="NAME", help="Settings saved with `config set`; else TIDEMILL_PROFILE."
        ),
    ] = None,
    output: Annotated[
        OutputFormat | None,
        typer.Option("-O", "--output", help="How to print; plain tab-separated lines in a pipe if not said."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Show the client's log, and the trace of an error.")
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No summaries and hints.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colours; NO_COLOR does the same.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before something is destroyed.")
    ] = False,
) -> None:
    """The signature the common options are taken from."""


def session(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command its `Session` as first argument, and the common options after its own."""
    own = inspect.signature(function)
    hints = get_type_hints(function, include_extras=True)
    parameters = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in list(own.parameters.items())[1:]
    ]
    taken = {word for hint in hints.values() for word in _words(hint)}
    shared = [
        parameter for parameter in _common_parameters() if not taken & set(_words(parameter.annotation))
    ]
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)

    @functools.wraps(function)
    def command(ctx: typer.Context, **values: Any) -> None:
        given = {parameter.name: values.pop(parameter.name) for parameter in shared}
        function(Session(options_of(ctx, given)), **values)

    signature = own.replace(parameters=[context, *parameters, *shared], return_annotation=None)
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {name: item.annotation for name, item in signature.parameters.items()}
    return command


def options_of(ctx: typer.Context, given: dict[str, Any]) -> Options:
    """The options of this run: the root's with a command's own on top."""
    if not isinstance(ctx.obj, Options):
        ctx.obj = Options()
    ctx.obj.take(given)
    return ctx.obj


@functools.cache
def _common_parameters() -> list[inspect.Parameter]:
    """The common options as a leaf has them: accepted, and listed only in the root's help."""
    hints = get_type_hints(common, include_extras=True)
    found = []
    for name, parameter in inspect.signature(common).parameters.items():
        inner, option = hints[name].__origin__, hints[name].__metadata__[0]
        hidden = typer.Option(
            option.default, *(option.param_decls or ()), hidden=True, metavar=option.metavar
        )
        found.append(
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[inner, hidden])
        )
    return found


def _words(hint: Any) -> list[str]:
    return [
        word
        for option in getattr(hint, "__metadata__", ())
        for word in (getattr(option, "default", None), *(getattr(option, "param_decls", None) or ()))
        if isinstance(word, str) and word.startswith("-")
    ]
