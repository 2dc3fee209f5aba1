"""`tidemill top`: all running apps at a glance, live."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tidemill.cli.app_names import StateDir
from tidemill.cli.help import Command, single
from tidemill.cli.options import session
from tidemill.cli.output import Column
from tidemill.cli.session import Session

app = single()


@app.command("top", cls=Command)
@session
def top(
    session: Session,
    state_dir: StateDir = None,
    once: Annotated[bool, typer.Option("--once", help="Print the table once and end.")] = False,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=0.2, help="How often to look.")
    ] = 1.0,
) -> None:
    """Watch the apps that run on this machine: rates, lag, batch time, state. Ctrl-C ends it.

    Example:

        $ tidemill top
        $ tidemill top --once -O json
    """
    if once or session.out.is_data or not session.out.on_terminal:
        session.out.rows(COLUMNS, rows(state_dir), empty="No app runs here.")
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(no_color=not session.out.color, highlight=False)
    with Live(_table(rows(state_dir)), console=console, screen=True, auto_refresh=False) as live:
        while True:
            time.sleep(every)
            live.update(_table(rows(state_dir)), refresh=True)


def rows(state_dir: Path | None) -> list[dict[str, Any]]:
    """A row per running app."""
    from tidemill.runtime.figures import running_apps

    return [
        {
            "app": figures["app"],
            "state": figures["state"],
            "in_per_second": figures["rate_in"],
            "out_per_second": figures["rate_out"],
            "lag": figures["lag"],
            "lag_seconds": figures["lag_seconds"],
            "batch_ms": figures["last_batch_ms"],
            "state_rows": figures["state_rows"],
            "state_bytes": figures["state_bytes"],
            "dropped": sum(figures["dropped"].values()),
            "restarts": figures["restarts"],
        }
        for figures in running_apps(state_dir)
    ]


def short(value: float | None, unit: str = "") -> str:
    """A number in a few signs; one that is not known is a dash, never a zero.

    >>> short(1234567), short(12.34), short(None), short(3 * 1024**2, "B")
    ('1.2M', '12.3', '-', '3.1MB')
    """
    if value is None:
        return "-"
    for step, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= step:
            return f"{value / (1e3 if letter == 'k' else step):.1f}{letter}{unit}"
    return f"{value:.0f}{unit}" if float(value).is_integer() else f"{value:.1f}{unit}"


COLUMNS = (
    Column("app", "APP"),
    Column("state", "STATE"),
    Column("in_per_second", "IN/S", right=True, show=short),
    Column("out_per_second", "OUT/S", right=True, show=short),
    Column("lag", "LAG", right=True, show=short),
    Column("lag_seconds", "LAG S", right=True, show=short),
    Column("batch_ms", "BATCH MS", right=True, show=short),
    Column("state_rows", "STATE ROWS", right=True, show=short),
    Column("state_bytes", "STATE", right=True, show=lambda value: short(value, "B")),
    Column("dropped", "DROPPED", right=True, show=short),
    Column("restarts", "RESTARTS", right=True, show=short),
)


def _table(found: list[dict[str, Any]]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    title = f"tidemill top · {time.strftime('%H:%M:%S')} · {len(found)} running"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in COLUMNS:
        table.add_column(column.title, justify="right" if column.right else "left")
    for row in found:
        style = {"RUNNING": "green", "PAUSED": "yellow"}.get(row["state"], "red")
        cells = [Text(column.text(row)) for column in COLUMNS]
        cells[1].stylize(style)
        table.add_row(*cells)
    return table
