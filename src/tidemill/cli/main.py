"""The `tidemill` command: the root of the tree, and the one place where errors become text and exit codes."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Sequence
from typing import Any

import typer

from tidemill.cli.help import CONTEXT, Entry, RootGroup, use_color
from tidemill.cli.options import common, options_of
from tidemill.cli.session import Options
from tidemill.errors import ExitCode, TidemillError

COMMANDS: dict[str, Entry] = {
    "demo": Entry("tidemill.cli.demo", "Watch a live Kafka pipeline on Spark."),
    "new": Entry("tidemill.cli.new", "Make a project: an app, its test, and what is needed around them."),
    "dev": Entry("tidemill.cli.dev", "A real Kafka on this machine: start, stop, look at."),
    "topics": Entry("tidemill.cli.topics", "List, create, describe, change and delete topics.", ("topic",)),
    "produce": Entry("tidemill.cli.produce", "Write records to a topic, from lines, a file or JSON."),
    "consume": Entry("tidemill.cli.consume", "Read records from topics, from any place to any end."),
    "datagen": Entry("tidemill.cli.datagen", "Make up records: into topics at a rate, or into a file."),
    "groups": Entry("tidemill.cli.groups", "Consumer groups: lag, members, moving offsets.", ("group",)),
    "app": Entry("tidemill.cli.app", "Apps: run, watch, stop, reset, upgrade.", ("apps",)),
    "dlq": Entry("tidemill.cli.dlq", "Dead letters: what an app could not process, why, and the way back."),
    "metrics": Entry("tidemill.cli.metrics", "Figures of running apps, also in Prometheus' form."),
    "top": Entry("tidemill.cli.top", "Watch running apps: rates, lag, batch time, state."),
    "doctor": Entry("tidemill.cli.doctor", "Check this machine and the cluster, and say what to do."),
    "config": Entry("tidemill.cli.config", "Settings and profiles: what is used, and where it comes from."),
    "completion": Entry("tidemill.cli.completion", "Print the completion script of a shell."),
    "version": Entry("tidemill.cli.version", "Print the versions of Tidemill and what it stands on."),
}


class Root(RootGroup):
    """The root of this command."""

    entries = COMMANDS


app = typer.Typer(
    name="tidemill",
    cls=Root,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings=CONTEXT,
    pretty_exceptions_enable=False,
)


def root(ctx: typer.Context, **values: Any) -> None:
    """Kafka Streams and ksqlDB for Python teams, executed by Spark.

    Start with a real Kafka on this machine, write to it, and read it back:

        $ tidemill dev up --detach
        $ tidemill topics create orders -p 4
        $ echo 'ann:2 apples' | tidemill produce orders -K:
        $ tidemill consume orders --from-beginning -e

    Exit codes: 0 ok, 1 failed, 2 wrong use, 3 not found, 4 access denied, 5 unreachable or too late,
    6 verification failed, 130 interrupted.
    """
    options_of(ctx, values)


_shared = inspect.signature(common, eval_str=True).parameters
root.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in _shared.values()),
    ]
)
root.__annotations__ = {"ctx": typer.Context, **{name: item.annotation for name, item in _shared.items()}}
app.callback()(root)


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; never shows a trace unless asked to."""
    arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    options = Options(words=tuple(arguments))
    try:
        return _invoke(arguments, options)
    except BrokenPipeError:
        _silence_stdout()
        return ExitCode.OK
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except TidemillError as error:
        _show(str(error), error, options)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 -- the guard: no trace reaches a user who did not ask
        if hasattr(error, "format_message") and hasattr(error, "show"):
            error.show()
            return ExitCode.USAGE
        _show(
            f"{type(error).__name__}: {error}\nRemedy: run again with --verbose to see where", error, options
        )
        return ExitCode.FAILED


def _invoke(arguments: list[str], options: Options) -> int:
    command = typer.main.get_command(app)
    if "_TIDEMILL_COMPLETE" in os.environ:
        from tidemill.cli.completion import answer

        return answer(command)
    try:
        with command.make_context("tidemill", arguments, obj=options) as context:
            command.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    finally:
        sys.stdout.flush()
    return ExitCode.OK


def _show(text: str, error: BaseException, options: Options) -> None:
    if options.verbose:
        import traceback

        traceback.print_exception(error, file=sys.stderr)
    what, _, remedy = text.partition("\nRemedy: ")
    color = use_color(sys.stderr) and not options.no_color
    label, help_label = (
        ("\033[1;31mError:\033[0m", "\033[1mRemedy:\033[0m") if color else ("Error:", "Remedy:")
    )
    sys.stderr.write(f"{label} {what}\n" + (f"{help_label} {remedy}\n" if remedy else ""))


def _silence_stdout() -> None:
    """Keep the interpreter from failing once more when it flushes a closed pipe at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


if __name__ == "__main__":
    sys.exit(run())
