"""The apps of this machine: found by their folders, seen from other processes, stopped from there."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tidemill.errors import NotFound, TidemillError
from tidemill.kafka.embedded.pids import ProcessId
from tidemill.kafka.paths import data_dir
from tidemill.kafka.private import write_private
from tidemill.runtime.begin import BEGIN, INTENT
from tidemill.runtime.record import RECORD, Run, read_run
from tidemill.runtime.state import State

_SIGNS = ("app.json", RECORD, INTENT, BEGIN)
_PLACES = ".elsewhere"


class BusyError(TidemillError):
    """The app runs, and what was asked for needs it stopped; or it does not end."""

    code = "BUSY"


@dataclass(frozen=True, slots=True)
class Batch:
    """The last batch that finished, as the files of the checkpoint tell."""

    number: int
    finished: float


@dataclass(frozen=True, slots=True)
class KnownApp:
    """An app by its folder. Every answer is read anew."""

    folder: Path

    @property
    def application_id(self) -> str:
        """The folder is named by it."""
        return self.folder.name

    @property
    def log_files(self) -> dict[str, Path]:
        """The app's own log and Spark's, those that are there."""
        wanted = {name: self.folder / "logs" / f"{name}.log" for name in ("app", "spark")}
        return {name: path for name, path in wanted.items() if path.exists()}

    def run(self) -> Run | None:
        """What it wrote about its last run."""
        return read_run(self.folder)

    def holder(self) -> ProcessId | None:
        """The process of this machine that has the app's lock; a pid that only looks like it is not taken."""
        lock = self.folder / "lock"
        try:
            pid = int(lock.read_text())
            wanted = lock.stat()
        except (OSError, ValueError):
            return None
        process = ProcessId.of(pid)
        if process is None or not process.alive():
            return None
        return process if _has_open(pid, (wanted.st_dev, wanted.st_ino)) else None

    def state(self) -> str:
        """A state of `State`; KILLED, RESET and RESETTING are added by what is left behind."""
        run, holder = self.run(), self.holder()
        if (self.folder / INTENT).exists():
            return "RESETTING"
        if holder is not None:
            return str(run.state if run is not None and run.process == holder else State.STARTING)
        if (self.folder / BEGIN).exists() and not (self.folder / "app.json").exists():
            return "RESET"
        if run is None or run.state in (State.STOPPED, State.STOPPING):
            return str(State.STOPPED)
        if run.state is State.ERROR or not run.is_here:
            return str(run.state)
        return "KILLED"

    def last_batch(self) -> Batch | None:
        """None before the first, and where the checkpoint is not on this machine."""
        run = self.run()
        checkpoint = Path(urlsplit(run.checkpoint).path) if run is not None else self.folder / "checkpoint"
        newest: Batch | None = None
        with suppress(OSError):
            for path in (checkpoint / "commits").iterdir():
                if path.name.isdigit() and (newest is None or int(path.name) > newest.number):
                    newest = Batch(int(path.name), path.stat().st_mtime)
        return newest

    def stop(self, timeout: float, *, kill: bool = False) -> bool:
        """Ask the process to finish its batch and end, and wait for that; False if it did not run."""
        holder = self.holder()
        if holder is None:
            return False
        if (self.folder / INTENT).exists():
            raise BusyError(
                f"the app `{self.application_id}` is being reset by process {holder.pid}",
                where=str(self.folder),
                remedy="wait for the reset",
            )
        holder.send(signal.SIGTERM)
        if holder.wait(timeout):
            return True
        if kill:
            holder.send(signal.SIGKILL)
            if holder.wait(10):
                return True
        raise BusyError(
            f"the app `{self.application_id}` (process {holder.pid}) was asked to stop and still runs after"
            f" {timeout:g} s",
            where=str(self.folder),
            remedy="it goes on finishing its batch: wait, or end it with --kill; the batch is then repeated",
        )


def apps_dir(state_dir: str | os.PathLike[str] | None = None) -> Path:
    """Where the folders of apps are: said, by TIDEMILL_STATE_DIR, or in the data directory."""
    wanted = str(state_dir or os.environ.get("TIDEMILL_STATE_DIR") or "")
    parts = urlsplit(wanted)
    # An app whose checkpoint is elsewhere keeps its own files in the data directory all the same.
    if not wanted or parts.scheme not in ("", "file"):
        return data_dir() / "apps"
    return Path(parts.path).expanduser().absolute()


def find_apps(state_dir: str | os.PathLike[str] | None = None) -> list[KnownApp]:
    """All apps of a directory; without one, also those `tidemill app run` has started elsewhere."""
    base = apps_dir(state_dir)
    folders = [folder for folder in _folders(base) if _is_app(folder)]
    if state_dir is None:
        folders += [folder for folder in _elsewhere() if _is_app(folder) and folder not in folders]
    return [KnownApp(folder) for folder in sorted(folders, key=lambda folder: folder.name)]


def find_app(application_id: str, state_dir: str | os.PathLike[str] | None = None) -> KnownApp:
    """One app by its id."""
    found = [app for app in find_apps(state_dir) if app.application_id == application_id]
    if not found:
        raise NotFound(
            f"there is no app `{application_id}`",
            where=str(apps_dir(state_dir)),
            remedy="look at `tidemill app list`, or say where its state is with --state-dir",
        )
    return found[0]


def remember_place(folder: Path) -> None:
    """Let `find_apps` find an app whose state directory only its program knows."""
    if folder.parent != data_dir() / "apps":
        places = data_dir() / "apps" / _PLACES
        places.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(places / folder.name, str(folder))


def _folders(base: Path) -> list[Path]:
    try:
        return [path for path in base.iterdir() if path.is_dir() and path.name != _PLACES]
    except OSError:
        return []


def _elsewhere() -> Iterator[Path]:
    with suppress(OSError):
        for note in (data_dir() / "apps" / _PLACES).iterdir():
            with suppress(OSError):
                yield Path(note.read_text(encoding="utf-8"))


def _is_app(folder: Path) -> bool:
    return any((folder / name).exists() for name in _SIGNS)


def _has_open(pid: int, file: tuple[int, int]) -> bool:
    """Whether a process has this file open; a lock is held through an open file."""
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found = descriptor.stat()
                if (found.st_dev, found.st_ino) == file:
                    return True
    return False
