"""`tidemill demo`: a Kafka, a Spark and a live pipeline on this machine, with nothing to install first."""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemill.cli.help import Command, single
from tidemill.cli.options import session
from tidemill.cli.session import Session
from tidemill.errors import ExitCode, VerificationFailed

if TYPE_CHECKING:
    from tidemill.cli.demo_work import Feed, Results, Sum
    from tidemill.kafka.settings import Settings

app = single()

_CATCH_UP_SECONDS = 30.0


@app.command("demo", cls=Command)
@session
def demo(
    session: Session,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", metavar="N", min=1, help="End after this long with results; else Ctrl-C."),
    ] = None,
    rate: Annotated[
        float, typer.Option("--rate", metavar="N", min=0.1, max=1000, help="Numbers per second.")
    ] = 6.0,
) -> None:
    """Watch a live Kafka pipeline on Spark.

    Starts a Kafka of its own, writes random numbers into it, keeps their rolling sum of five seconds per
    key in Spark, and shows it. At the end every sum is compared with plain Python; nothing is left behind.

    Example:

        $ tidemill demo
        $ tidemill demo --seconds 30
    """
    from tidemill.runtime.signals import stop_on_signal

    asked = threading.Event()
    with stop_on_signal(asked.set) as take_signals, ExitStack() as cleanup:
        steps = _Steps(session, asked)
        feed, results = _start(steps, cleanup, rate)
        take_signals()
        shown = _show(session, steps, results, seconds)
        if shown:
            _check(session, feed, results)
    if asked.is_set() and not shown:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _start(steps: _Steps, cleanup: ExitStack, rate: float) -> tuple[Feed, Results]:
    """Everything up to a running pipeline; `cleanup` undoes it in the reverse order."""
    from tidemill.cli.demo_work import NUMBERS, SUMS, Feed, Results, rolling_sum
    from tidemill.kafka.admin import Admin
    from tidemill.kafka.embedded import Cluster
    from tidemill.kafka.jars import fetch
    from tidemill.kafka.settings import Settings
    from tidemill.runtime import App

    with steps("Jars of Kafka and Spark"):
        fetch(["kafka-broker", "spark-kafka"])
    with steps("Kafka broker") as say:
        kafka = cleanup.enter_context(Cluster(name="demo"))
        settings: Settings = Settings.of(kafka.client_config())
        admin = Admin(settings)
        for topic in (NUMBERS, SUMS):
            admin.create(topic, partitions=2)
        say(kafka.bootstrap_servers)
    folder = tempfile.mkdtemp(prefix="tidemill-demo-")
    cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
    feed = Feed(settings, rate)
    with steps("Spark with the pipeline"):
        app = App(
            "demo",
            rolling_sum(),
            bootstrap_servers=kafka.bootstrap_servers,
            state_dir=folder,
            tasks=2,
            # A short life: quick code is worth more than the quickest.
            config={"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"},
        )
        app.start()
        cleanup.callback(app.stop)
    cleanup.callback(feed.stop)
    feed.start()
    results = Results(settings)
    cleanup.callback(results.close)
    return feed, results


def _show(session: Session, steps: _Steps, results: Results, seconds: float | None) -> bool:
    """Results until the time is over or somebody asks to stop; False if there was none."""
    end: float | None = None
    screen: Callable[[Sum], None] | None = None
    with ExitStack() as drawn, steps("First result") as say:
        while not steps.asked.is_set() and (end is None or time.monotonic() < end):
            for found in results.poll(0.2):
                if screen is None:
                    say(f"{steps.total:.1f} s after the start")
                    end = None if seconds is None else time.monotonic() + seconds
                    screen = drawn.enter_context(_screen(session))
                if found.is_latest:
                    screen(found)
    return screen is not None


def _check(session: Session, feed: Feed, results: Results) -> None:
    """Compare every window with plain Python, once the last number has come through."""
    from tidemill.cli.demo_work import WINDOW_MS

    feed.stop()
    end = time.monotonic() + _CATCH_UP_SECONDS
    newest = {(key, at - WINDOW_MS) for key, at, _ in feed.sent}
    while time.monotonic() < end and (not newest <= results.last.keys() or results.wrong(feed.sent)):
        for _ in results.poll(0.2):
            pass
    if wrong := results.wrong(feed.sent):
        raise VerificationFailed(f"{len(wrong)} of {len(results.last)} windows have a wrong sum: {wrong[:3]}")
    count = f"{len(feed.sent)} numbers, {len(results.last)} windows"
    session.out.note(f"{count}: every sum is what plain Python makes of the numbers.")


@contextmanager
def _screen(session: Session) -> Iterator[Callable[[Sum], None]]:
    """A table that changes in place on a terminal, lines elsewhere."""
    if not session.out.on_terminal or session.out.is_data:
        yield lambda found: _line(session, found)
        return
    from rich.console import Console
    from rich.live import Live

    latest: dict[str, Sum] = {}
    history: dict[str, list[int]] = {}
    with Live(console=Console(file=sys.stdout), refresh_per_second=8, transient=False) as live:

        def draw(found: Sum) -> None:
            latest[found.key] = found
            history.setdefault(found.key, []).append(found.total)
            live.update(_table(latest, history))

        yield draw


def _line(session: Session, found: Sum) -> None:
    row = {"key": found.key, "start": found.start, "end": found.end, "sum": found.total}
    if session.out.is_data:
        session.out.data(row)
    else:
        session.out.line("\t".join(str(value) for value in row.values()))


def _table(latest: dict[str, Sum], history: dict[str, list[int]]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, title="Rolling sum of the last 5 seconds", title_justify="left")
    for title, right in (("KEY", False), ("SUM", True), ("AT", False), ("", False)):
        table.add_column(title, justify="right" if right else "left")
    for key in sorted(latest):
        at = time.strftime("%H:%M:%S", time.localtime(latest[key].end / 1000))
        table.add_row(
            f"[{key}]{key}[/]", f"[bold]{latest[key].total}[/]", at, _spark_line(history[key][-40:])
        )
    return table


def _spark_line(numbers: list[int]) -> str:
    highest = max([*numbers, 1])
    return "".join(_BARS[number * (len(_BARS) - 1) // highest] for number in numbers)


_BARS = " ▁▂▃▄▅▆▇█"


class _Steps:
    """Says on standard error what is being done and how long it took."""

    def __init__(self, session: Session, asked: threading.Event) -> None:
        self.asked = asked
        self._session = session
        self._began = time.monotonic()

    @property
    def total(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began

    @contextmanager
    def __call__(self, label: str) -> Iterator[Callable[[str], None]]:
        """One step; it may say a word on its result, which ends its line."""
        if self.asked.is_set():
            raise KeyboardInterrupt
        began = time.monotonic()
        said = False

        def say(detail: str) -> None:
            nonlocal said
            said = True
            text = f"{label:<26}{time.monotonic() - began:>6.1f} s   {detail}"
            self._session.out.note(text.rstrip())

        yield say
        if not said and not self.asked.is_set():
            say("")
