"""`tidemill app run`: an app of a user's file, in the foreground or by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemill.cli.app_load import load_app
from tidemill.cli.app_status import open_log, shown
from tidemill.cli.session import Session, parse_pairs
from tidemill.cli.tail import last_lines
from tidemill.errors import ExitCode, NotFound, TidemillError, Unreachable, UsageError

if TYPE_CHECKING:
    from tidemill.kafka.settings import Settings
    from tidemill.runtime import App
    from tidemill.runtime.known import KnownApp

COMMAND = "command.json"


def run(
    session: Session,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE[:NAME]", help="Python file or package.module, and the app in it."),
    ],
    application_id: Annotated[
        str | None,
        typer.Option("--application-id", metavar="ID", help="Id, where the file has a builder and no App."),
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(
            "--master", metavar="URL", help="Where Spark runs: local[4], spark://..., yarn, k8s://..."
        ),
    ] = None,
    conf: Annotated[
        list[str] | None,
        typer.Option("--conf", metavar="K=V", help="A setting of Spark; repeatable."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="TOML file of the app's settings.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the app; repeatable."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="END",
            help="End by itself: now, at a time, or before offsets, as orders:0=100,orders:1=50.",
        ),
    ] = None,
    detach: Annotated[
        bool, typer.Option("-d", "--detach", help="Return when it runs, and let it run on.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="How long --detach waits for it to run.")
    ] = 120.0,
) -> None:
    """Run an app.

    Ctrl-C or `tidemill app stop` ends it after the batch in work. What is said here wins over the program's
    own settings: --set and --conf first, then --config.

    Example:

        $ tidemill app run shop.py
        $ tidemill app run shop.py:orders --master 'local[4]' --set commit.interval.ms=500
        $ tidemill app run shop.py --detach
        $ tidemill app run history.py --until now
        $ tidemill app run history.py --until 2026-01-31T12:00
    """
    from tidemill.runtime.layers import command_line

    over = _over(session, master=master, conf=conf, config=config, pairs=set_)
    with command_line(over=over, under=session.settings):
        app = load_app(file, application_id)
    if detach:
        _detached(session, app, _again(session.options.words), timeout)
        return
    _remember(app, over, _again(session.options.words))
    arguments: dict[str, Any] = {} if until is None else {"until": until}
    with shown(app, quiet=session.options.quiet):
        app.run(**arguments)


def start_again(session: Session, known: KnownApp, timeout: float) -> None:
    """Start a stopped app in the background, as it was started before."""
    try:
        noted = json.loads((known.folder / COMMAND).read_text(encoding="utf-8"))
        words, folder = [str(word) for word in noted["words"]], str(noted["folder"])
    except (OSError, ValueError, KeyError) as error:
        raise NotFound(
            f"nobody wrote down how `{known.application_id}` is started",
            where=str(known.folder),
            remedy="start it with `tidemill app run FILE --detach`; a command with a secret is not kept",
        ) from error
    _spawn(session, known, words, folder, timeout)


def _over(
    session: Session,
    *,
    master: str | None,
    conf: Sequence[str] | None,
    config: Path | None,
    pairs: Sequence[str] | None,
) -> Settings:
    """The settings of the command line, the strongest on top."""
    from tidemill.kafka.settings import Settings
    from tidemill.runtime.layers import read_config_file

    options = session.options
    spark = parse_pairs(list(conf or ()), option="--conf")
    for name in spark:
        if not name.startswith("spark."):
            raise UsageError(
                f"`{name}` is no setting of Spark", where="--conf", remedy="they begin with spark."
            )
    own = {
        (name if "." in name else name.replace("_", ".")): value
        for name, value in parse_pairs(list(pairs or ()), option="--set").items()
    }
    layers = [Settings.of({**spark, **own}, source="command line"), Settings.from_pairs(options.setting)]
    if master is not None:
        layers.append(Settings.of({"master": master}, source="--master"))
    if options.bootstrap_server:
        layers.append(Settings.of({"bootstrap.servers": options.bootstrap_server}, source="-b"))
    if options.command_config is not None:
        layers.append(Settings.from_file(options.command_config))
    if config is not None:
        layers.append(read_config_file(config))
    if options.profile:
        layers.append(session.settings)
    over = Settings()
    for layer in layers:
        over = over.over(layer)
    return over


def _remember(app: App, over: Settings, words: list[str]) -> None:
    """Write down how the app was started, once it runs, for `app restart`; not if it tells a secret."""
    from tidemill.kafka.private import write_private
    from tidemill.runtime import State
    from tidemill.runtime.known import remember_place

    tells = any(entry.shown != entry.raw for entry in over.entries())
    note = json.dumps({"words": words, "folder": str(Path.cwd())}, indent=1)

    def started(new: State, _old: State) -> None:
        if new is State.RUNNING:
            file = app.config.folder / COMMAND
            remember_place(app.config.folder)
            if tells:
                file.unlink(missing_ok=True)
            else:
                write_private(file, note)

    app.on_state_change(started)


def _again(words: Sequence[str]) -> list[str]:
    """The words behind `tidemill` that make the same app run in the foreground."""
    return [word for word in words if word not in ("-d", "--detach")]


def _detached(session: Session, app: App, words: list[str], timeout: float) -> None:
    from tidemill.runtime.known import KnownApp

    known = KnownApp(app.config.folder)
    holder = known.holder()
    if holder is not None:
        from tidemill.runtime.lock import already_running

        raise already_running(known.application_id, known.folder, str(holder.pid))
    _spawn(session, known, words, str(Path.cwd()), timeout)


def _spawn(session: Session, known: KnownApp, words: list[str], folder: str, timeout: float) -> None:
    """Start the command by itself and wait until the app runs, has ended well, or fails."""
    log_file = open_log(known.folder / "logs" / "app.log")
    with log_file.open("ab") as log:
        began = log.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "tidemill.cli.main", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    deadline = time.monotonic() + timeout
    while not _runs(known, process.pid):
        code = process.poll()
        if code == ExitCode.OK:
            session.out.note(f"{known.application_id} has ended already: it was to end by itself.")
            return
        if code is not None:
            raise _ended(known, log_file, began, code)
        if time.monotonic() > deadline:
            raise Unreachable(
                f"the app `{known.application_id}` does not run yet after {timeout:g} s, as process"
                f" {process.pid}",
                where=str(log_file),
                remedy=f"look at `tidemill app logs {known.application_id}`, or wait longer: --timeout",
            )
        time.sleep(0.1)
    session.out.document(
        {"application_id": known.application_id, "pid": process.pid, "log": str(log_file)},
        lambda: session.out.line(f"{known.application_id} runs as process {process.pid}"),
    )
    session.out.note(f"`tidemill app logs -f {known.application_id}` shows what it does.")


def _runs(known: KnownApp, pid: int) -> bool:
    holder = known.holder()
    return holder is not None and holder.pid == pid and known.state() == "RUNNING"


def _ended(known: KnownApp, log_file: Path, began: int, code: int) -> TidemillError:
    """What the process said last, as our own error with its exit code."""
    with log_file.open("rb") as log:
        log.seek(began)
        said = log.read().decode(errors="replace")
    told = said.rpartition("Error: ")[2].strip()
    what, _, remedy = told.partition("\nRemedy: ")
    error = TidemillError(
        what or f"the app `{known.application_id}` has ended: {' '.join(last_lines(log_file, 1))}",
        remedy=remedy or f"its log is {log_file}",
    )
    if code in list(ExitCode):
        error.exit_code = ExitCode(code)
    return error
