"""`tidemill metrics`: what a running app measures, for people, programs and Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from tidemill.cli.app_names import StateDir, app_names
from tidemill.cli.help import Command, single
from tidemill.cli.options import session
from tidemill.cli.output import Column
from tidemill.cli.session import Session

app = single()


@app.command("metrics", cls=Command)
@session
def metrics(
    session: Session,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="Application id; all running apps if not said.", autocompletion=app_names
        ),
    ] = None,
    state_dir: StateDir = None,
    prometheus: Annotated[
        bool, typer.Option("--prometheus", help="Print what a scrape of `metrics.port` would get.")
    ] = False,
) -> None:
    """Print the figures of running apps on this machine.

    Example:

        $ tidemill metrics word-count
        $ tidemill metrics word-count -O json
        $ tidemill metrics --prometheus
    """
    from tidemill.runtime.figures import running_app, running_apps

    apps = running_apps(state_dir) if name is None else [running_app(name, state_dir)]
    if prometheus:
        from tidemill.runtime.exposition import exposition

        session.out.line(exposition(apps).rstrip("\n"))
        return
    if session.out.is_data:
        session.out.data(apps if name is None else apps[0])
        return
    rows = [
        {"app": each["app"], "metric": metric, "value": value}
        for each in apps
        for metric, value in flat(each)
    ]
    columns = [Column("metric", "METRIC"), Column("value", "VALUE", right=True)]
    if name is None:
        columns.insert(0, Column("app", "APP"))
    session.out.rows(columns, rows, empty="No app runs here.")


def flat(figures: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The figures a person wants to see, one per line.

    >>> list(flat({"app": "a", "state": "RUNNING", "dropped": {"late": 2}}))
    [('state', 'RUNNING'), ('dropped.late', 2)]
    """
    for key, value in figures.items():
        if key in _HIDDEN:
            continue
        if key == "partitions":
            for part in value:
                yield f"lag.{part['topic']}.{part['partition']}", part["lag"]
        elif key == "state_operators":
            for operator in value:
                where = ",".join(operator["stores"]) or f"level {operator['level']}"
                yield f"state.{where}.rows", operator["rows"]
                yield f"state.{where}.bytes", operator["bytes"]
        elif key == "batch_seconds":
            for phase, times in value.items():
                mean = times["sum"] / times["count"] if times["count"] else 0.0
                yield f"batch_seconds.{phase}.mean", round(mean, 4)
        elif isinstance(value, dict):
            for name, inner in value.items():
                if isinstance(inner, dict):
                    yield from ((f"{key}.{name}.{each}", count) for each, count in inner.items())
                else:
                    yield f"{key}.{name}", inner
        else:
            yield key, value


_HIDDEN = {"app", "written", "started", "last_progress", "last_batch_parts_ms"}
