"""`tidemill app`: apps from the outside: which there are, what they do, and ending them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemill.cli import app_reset, app_run, app_upgrade
from tidemill.cli.app_names import AppId, StateDir
from tidemill.cli.help import Command, group
from tidemill.cli.options import session
from tidemill.cli.output import Column
from tidemill.cli.session import Session
from tidemill.errors import NotFound, TidemillError

if TYPE_CHECKING:
    from tidemill.runtime.known import KnownApp

app = group("app", "Apps: run, watch, stop, reset, upgrade.")

Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0, help="How long to wait for the batch in work.")
]
Kill = Annotated[
    bool, typer.Option("--kill", help="End it at once if it takes longer; the batch is then repeated.")
]


class Form(StrEnum):
    """The forms of a topology."""

    text = "text"
    json = "json"


app.command("run", cls=Command)(session(app_run.run))


@app.command("list", cls=Command)
@session
def list_apps(session: Session, state_dir: StateDir = None) -> None:
    """List the apps of this machine, running or not.

    Example:

        $ tidemill app list
        $ tidemill app list -O json
    """
    from tidemill.runtime.known import find_apps

    rows = []
    told: set[str] = set()
    for known in find_apps(state_dir):
        facts = _facts(known)
        facts["lag"] = _lag(session, known, told)
        rows.append(facts)
    columns = [
        Column("application_id", "APP"),
        Column("state", "STATE"),
        Column("pid", "PID", right=True),
        Column("last_batch", "BATCH", right=True),
        Column("last_batch_at", "FINISHED"),
        Column("lag", "LAG", right=True),
        Column("bootstrap_servers", "BOOTSTRAP", wide=True),
        Column("folder", "FOLDER", wide=True),
    ]
    session.out.rows(columns, rows, empty="No apps.")


@app.command("describe", cls=Command)
@session
def describe(
    session: Session,
    name: AppId,
    topology: Annotated[
        Form | None, typer.Option("--topology", help="Show the topology its state was made by.")
    ] = None,
    state_dir: StateDir = None,
) -> None:
    """Show what an app is doing, where it keeps its state, and its lag per partition.

    Example:

        $ tidemill app describe shop
        $ tidemill app describe shop --topology text
    """
    from tidemill.runtime.known import find_app
    from tidemill.runtime.reset_plan import noted_topology

    known = find_app(name, state_dir)
    run = known.run()
    if topology is Form.json:
        session.out.data(noted_topology(known.folder))
        return
    if topology is Form.text:
        session.out.line(run.topology if run is not None else "")
        return
    facts = _facts(known)
    partitions = _progress(session, known)
    facts["lag"] = sum(row["lag"] or 0 for row in partitions)
    if run is not None:
        facts |= {
            "host": run.host,
            "started": _moment(run.started),
            "since": _moment(run.since),
            "guarantee": run.guarantee,
            "latency": run.latency,
            "master": run.master,
            "source_topics": run.source_topics,
            "sink_topics": run.sink_topics,
            "stores": run.stores,
            "checkpoint": run.checkpoint,
            "error": run.error if facts["state"] == "ERROR" else None,
        }
    facts["log_files"] = {label: str(path) for label, path in known.log_files.items()}
    session.out.document({**facts, "partitions": partitions}, lambda: _draw(session, facts, partitions))


@app.command("stop", cls=Command)
@session
def stop(
    session: Session,
    name: AppId,
    timeout: Timeout = 90.0,
    kill: Kill = False,
    state_dir: StateDir = None,
) -> None:
    """Stop a running app after the batch in work.

    Example:

        $ tidemill app stop shop
        $ tidemill app stop shop --timeout 10 --kill
    """
    from tidemill.runtime.known import find_app

    known = find_app(name, state_dir)
    before = time.monotonic()
    if known.stop(timeout, kill=kill):
        session.out.note(f"Stopped {name} in {time.monotonic() - before:.1f} s.")
    else:
        session.out.note(f"{name} does not run: it is {known.state()}.")


@app.command("restart", cls=Command)
@session
def restart(
    session: Session,
    name: AppId,
    timeout: Timeout = 120.0,
    kill: Kill = False,
    state_dir: StateDir = None,
) -> None:
    """Stop an app, and start it again in the background as it was started before.

    Example:

        $ tidemill app restart shop
    """
    from tidemill.runtime.known import find_app

    known = find_app(name, state_dir)
    known.stop(timeout, kill=kill)
    app_run.start_again(session, known, timeout)


@app.command("logs", cls=Command)
@session
def logs(
    session: Session,
    name: AppId,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on with what is written.")] = False,
    lines: Annotated[
        int, typer.Option("-n", "--lines", metavar="N", min=0, help="How many lines back.")
    ] = 20,
    spark: Annotated[bool, typer.Option("--spark", help="Show Spark's log too.")] = False,
    state_dir: StateDir = None,
) -> None:
    """Show an app's log.

    Example:

        $ tidemill app logs shop -n 100
        $ tidemill app logs shop -f --spark
    """
    from tidemill.cli.tail import follow_files, last_lines
    from tidemill.runtime.known import find_app

    known = find_app(name, state_dir)
    there = {label: path for label, path in known.log_files.items() if spark or label == "app"}
    if not there:
        raise NotFound(
            f"the app `{name}` has no log of its own",
            where=str(known.folder),
            remedy="`tidemill app run` writes one; Spark's is there with --spark",
        )
    labels = {path: f"{label:<5} | " if len(there) > 1 else "" for label, path in there.items()}
    for path, label in labels.items():
        for line in last_lines(path, lines):
            session.out.line(label + line)
    if follow:
        for path, line in follow_files(list(labels)):
            session.out.line(labels[path] + line)


app.command("reset", cls=Command)(session(app_reset.reset_app))
app.command("upgrade-check", cls=Command)(session(app_upgrade.upgrade_check))


def _facts(known: KnownApp) -> dict[str, Any]:
    run, batch, holder = known.run(), known.last_batch(), known.holder()
    return {
        "application_id": known.application_id,
        "state": known.state(),
        "pid": None if holder is None else holder.pid,
        "last_batch": None if batch is None else batch.number,
        "last_batch_at": None if batch is None else _moment(batch.finished),
        "bootstrap_servers": None if run is None else run.settings.get("bootstrap.servers"),
        "folder": str(known.folder),
    }


def _lag(session: Session, known: KnownApp, told: set[str]) -> int | None:
    """The lag of all partitions; a cluster that does not answer is told of once and not asked again."""
    run = known.run()
    where = "" if run is None else run.settings.get("bootstrap.servers", "")
    if where in told:
        return None
    try:
        rows = _progress(session, known)
    except TidemillError as error:
        told.add(where)
        session.out.note(f"The lag of {known.application_id} is not known: {error.what}.")
        return None
    return sum(row["lag"] or 0 for row in rows) if rows else None


def _progress(session: Session, known: KnownApp) -> list[dict[str, Any]]:
    from tidemill.cli.app_names import admin_of
    from tidemill.kafka import groups

    admin = admin_of(session, known)
    try:
        described = groups.describe_group(admin, known.application_id)
    except NotFound:
        return []
    return [groups.as_json(row) for row in groups.progress(admin, described)]


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _draw(session: Session, facts: Mapping[str, Any], partitions: list[dict[str, Any]]) -> None:
    out = session.out
    for name, value in facts.items():
        if value is None or value in ([], {}):
            continue
        if isinstance(value, list):
            value = ", ".join(map(str, value))
        elif isinstance(value, dict):
            value = ", ".join(map(str, value.values()))
        out.line(f"{name.replace('_', ' '):<18}{value}")
    if partitions:
        out.line()
        columns = [
            Column("topic", "TOPIC"),
            Column("partition", "PARTITION", right=True),
            Column("current_offset", "CURRENT", right=True),
            Column("end_offset", "END", right=True),
            Column("lag", "LAG", right=True),
        ]
        out.rows(columns, partitions)
