"""What a running app shows: one line that changes on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from tidemill.cli.help import use_color
from tidemill.errors import TidemillError

if TYPE_CHECKING:
    from tidemill.runtime import App

_LARGEST_LOG = 10 << 20
_REDRAW_SECONDS = 0.3
_TELL_SECONDS = 30.0
_FORMAT = "%(asctime)s %(levelname)-7s %(message)s"


@contextmanager
def shown(app: App, *, quiet: bool) -> Iterator[None]:
    """Show what the app does while it runs, and write it to the app's own log."""
    log_file = app.config.folder / "logs" / "app.log"
    with _own_stderr() as stream, _logging(log_file, stream, quiet=quiet):
        app.on_state_change(lambda new, _old: _tell_state(app.application_id, new))
        done = threading.Event()
        draw = _redrawn if sys.stderr.isatty() and not quiet else _told
        thread = threading.Thread(target=draw, args=(app, done, stream), daemon=True)
        thread.start()
        try:
            yield
        except TidemillError as error:
            _log.error("%s", error, extra=_ONLY_FILE)
            raise
        finally:
            done.set()
            thread.join(2)
            _log.info("%s", line_of(app.application_id, app.metrics()))


def _tell_state(name: str, state: str) -> None:
    # The last line of a run tells its end; a listener may come too late for that.
    if state not in ("STOPPED", "ERROR"):
        _log.info("%s is %s", name, state)


def line_of(name: str, figures: dict[str, Any]) -> str:
    """The state of an app in one line.

    >>> line_of("shop", {"state": "RUNNING", "last_batch_id": 4, "records_in": 1200, "records_out": 7,
    ...                  "lag": 0, "records_done_per_second": 88.04, "restarts": 0})
    'shop RUNNING  batch 4  1,200 in  7 out  88/s  lag 0'
    """
    parts = [f"{name} {figures['state']}"]
    if figures.get("last_batch_id") is not None:
        parts += [
            f"batch {figures['last_batch_id']}",
            f"{figures['records_in']:,} in",
            f"{figures['records_out']:,} out",
            f"{figures['records_done_per_second']:,.0f}/s",
            f"lag {figures['lag']:,}",
        ]
    if figures.get("restarts"):
        parts.append(f"{figures['restarts']} restarts")
    return "  ".join(parts)


def _redrawn(app: App, done: threading.Event, stream: TextIO) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(file=stream, force_terminal=True, no_color=not use_color(sys.stderr))
    with Live(console=console, auto_refresh=False, transient=True, redirect_stderr=False) as live:
        while not done.wait(_REDRAW_SECONDS):
            line = Text(line_of(app.application_id, app.metrics()), overflow="ellipsis", no_wrap=True)
            live.update(line, refresh=True)


def _told(app: App, done: threading.Event, _stream: TextIO) -> None:
    before = 0
    while not done.wait(_TELL_SECONDS):
        figures = app.metrics()
        if figures["batches"] != before:
            before = figures["batches"]
            _log.info("%s", line_of(app.application_id, figures))


@contextmanager
def _own_stderr() -> Iterator[TextIO]:
    """Standard error for us alone: while the JVM starts, its number stands for Spark's log."""
    sys.stderr.flush()
    try:
        number = os.dup(sys.stderr.fileno())
    except (OSError, ValueError):
        yield sys.stderr
        return
    with os.fdopen(number, "w", encoding="utf-8", buffering=1) as stream:
        yield stream


@contextmanager
def _logging(log_file: Path, stream: TextIO, *, quiet: bool) -> Iterator[None]:
    """Send what Tidemill logs to the app's own file and to standard error, which may be that file."""
    logger = logging.getLogger("tidemill")
    handlers: list[logging.Handler] = []
    stderr = logging.StreamHandler(stream)
    stderr.setLevel(logging.WARNING if quiet or sys.stderr.isatty() else logging.INFO)
    if is_stderr(log_file):
        stderr.setLevel(logging.INFO)
    else:
        handlers.append(logging.FileHandler(open_log(log_file), encoding="utf-8"))
    # The error that ends the app is told once, by the command itself.
    stderr.addFilter(lambda record: not hasattr(record, "only_file"))
    handlers.append(stderr)
    level = logger.level
    logger.setLevel(logging.INFO)
    for handler in handlers:
        formatter = logging.Formatter(_FORMAT)
        formatter.converter = time.gmtime
        handler.setFormatter(formatter)
        handler.addFilter(lambda record: record.name != _WATCHER or record.levelno < logging.ERROR)
        logger.addHandler(handler)
    try:
        yield
    finally:
        logger.setLevel(level)
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


def open_log(log_file: Path) -> Path:
    """Make the folder of a log, and put a log that has become large aside."""
    log_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if log_file.exists() and log_file.stat().st_size > _LARGEST_LOG:
        log_file.replace(log_file.with_suffix(".log.1"))
    return log_file


def is_stderr(log_file: Path) -> bool:
    """Whether standard error goes to this file already, as in a detached app."""
    try:
        ours, there = os.fstat(2), log_file.stat()
    except OSError:
        return False
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)


_log = logging.getLogger("tidemill.app")
_WATCHER = "tidemill.runtime.watcher"
_ONLY_FILE = {"only_file": True}
