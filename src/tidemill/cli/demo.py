"""`tidemill demo`: a Kafka, a Spark and a live pipeline on this machine, with nothing to install first."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemill.cli.demo_steps import Steps
from tidemill.cli.help import Command, single
from tidemill.cli.options import session
from tidemill.cli.output import Column
from tidemill.cli.session import Session
from tidemill.errors import ExitCode, VerificationFailed

if TYPE_CHECKING:
    from tidemill.cli.demo_results import Row
    from tidemill.cli.demo_start import Running
    from tidemill.cli.demo_view import View

app = single()

_CATCH_UP_SECONDS = 30.0
_DRAW_SECONDS = 0.25


@app.command("demo", cls=Command)
@session
def demo(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="[EXAMPLE]", help="Which example; --list shows all.")] = (
        "rolling-sum"
    ),
    listing: Annotated[bool, typer.Option("--list", help="Show the examples.")] = False,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", metavar="N", min=1, help="End after this long with results; else Ctrl-C."),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option("--rate", metavar="N", min=0.1, max=1000, help="Records per second of each stream."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Save the last view as an SVG.")
    ] = None,
) -> None:
    """Watch an example live: a Kafka pipeline on Spark.

    Starts a Kafka of its own, writes made-up records into it, runs the example on Spark, exactly once, and
    shows what goes in and comes out. At the end of the rolling sum every sum is compared with plain Python.
    Nothing is left behind but the jars in the cache.

    Example:

        $ tidemill demo
        $ tidemill demo wordcount --rate 50
        $ tidemill demo fraud --seconds 30
        $ tidemill demo --list
    """
    from tidemill.cli.demo_examples import example, examples
    from tidemill.cli.demo_start import start
    from tidemill.runtime.signals import stop_on_signal

    if listing:
        rows = [{"name": one.name, "title": one.title} for one in examples().values()]
        session.out.rows([Column("name", "EXAMPLE"), Column("title", "WHAT IT SHOWS")], rows)
        return
    chosen = example(name)
    # py4j reports a JVM that ends on Ctrl-C with a trace on the root logger; we say what happened ourselves.
    logging.getLogger().addHandler(logging.NullHandler())
    asked = threading.Event()
    with stop_on_signal(asked.set) as take_signals, ExitStack() as cleanup:
        cleanup.callback(_tell_what_is_left, session)
        steps = Steps(session.out, asked)
        running = start(steps, cleanup, chosen, rate)
        take_signals()
        shown = _show(session, steps, running, seconds)
        if shown:
            _check(session, running)
        if picture is not None:
            _save(running.view, picture)
    if asked.is_set() and not shown:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _show(session: Session, steps: Steps, running: Running, seconds: float | None) -> bool:
    """Results until the time is over or somebody asks to stop; False if there was none."""
    end: float | None = None
    screen: Callable[[list[Row]], None] | None = None
    with ExitStack() as drawn, steps("First result") as say:
        while not steps.asked.is_set() and (end is None or time.monotonic() < end):
            rows = list(running.results.poll(_DRAW_SECONDS))
            for row in rows:
                running.take(row)
            if running.app.error is not None:
                raise running.app.error
            if rows and screen is None:
                say(f"{steps.total:.1f} s after the start")
                end = None if seconds is None else time.monotonic() + seconds
                screen = drawn.enter_context(_screen(session, running.view))
            running.refresh()
            if screen is not None:
                screen(rows)
    return screen is not None


def _check(session: Session, running: Running) -> None:
    """Compare every window with plain Python, once the last number has come through."""
    feed, check = running.feed, running.check
    feed.stop()
    counts = f"{len(feed.sent):,} records in, {running.results.count:,} out"
    if check is None:
        session.out.note(f"{counts}.")
        return
    end = time.monotonic() + _CATCH_UP_SECONDS
    while time.monotonic() < end and (not check.is_complete(feed.sent) or check.wrong(feed.sent)):
        for row in running.results.poll(0.2):
            check.take(row)
    if wrong := check.wrong(feed.sent):
        raise VerificationFailed(f"{len(wrong)} of {len(check)} windows have a wrong sum: {wrong[:3]}")
    session.out.note(
        f"{counts}, {len(check):,} windows: every sum is what plain Python makes of the numbers."
    )


@contextmanager
def _screen(session: Session, view: View) -> Iterator[Callable[[list[Row]], None]]:
    """A view that changes in place on a terminal, lines elsewhere."""
    if not session.out.on_terminal or session.out.is_data:
        yield lambda rows: _lines(session, rows)
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(file=sys.stdout, no_color=not session.out.color)
    with Live(console=console, auto_refresh=False, transient=False, vertical_overflow="crop") as live:
        yield lambda _: live.update(view.render(), refresh=True)


def _lines(session: Session, rows: list[Row]) -> None:
    for row in rows:
        if session.out.is_data:
            session.out.data(row.data())
        elif row.is_latest:
            session.out.line(f"{row.topic}\t{row.place}\t{row.text}")


def _save(view: View, picture: Path) -> None:
    """The view as an SVG that needs no font from anywhere."""
    import io
    import re

    from rich.console import Console

    console = Console(
        record=True, width=104, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(view.render())
    svg = console.export_svg(title="tidemill demo")
    svg = re.sub(r"@font-face \{.*?\}\s*|<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    picture.write_text(svg.replace("Fira Code", "ui-monospace"), encoding="utf-8")


def _tell_what_is_left(session: Session) -> None:
    from tidemill.engine.archive import use_options
    from tidemill.kafka.paths import cache_dir

    session.out.note(
        f"Kafka and Spark are stopped, their data and the app's state are gone. Left on disk: {cache_dir()}"
        " (jars and class archives, used again by the next start)."
    )
    if not use_options():
        session.out.note(
            "`tidemill dev fetch` makes Spark's class archive: the next start takes half the work."
        )
