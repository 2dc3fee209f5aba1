"""A program under measurement: its whole process tree's processor time and memory, and an end by pid."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Usage:
    """What a process tree has used so far, and occupies now."""

    cpu: float
    rss: int


class Program:
    """A started program in a session of its own; its output goes into a file."""

    def __init__(self, command: Sequence[str], log: Path, env: Mapping[str, str] | None = None) -> None:
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            self.started = time.monotonic()
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=None if env is None else {**os.environ, **env},
                start_new_session=True,
            )
        self._cpu = 0.0

    @property
    def pid(self) -> int:
        """The pid of the first process."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the first process still lives."""
        return self._process.poll() is None

    def usage(self) -> Usage:
        """Of the whole tree; processor time never falls, even when a child ends unseen."""
        found = usage(tree(self.pid))
        self._cpu = max(self._cpu, found.cpu)
        return Usage(self._cpu, found.rss)

    def stop(self, patience: float = 20.0) -> None:
        """Ask for an end, and enforce it when it does not come."""
        members = tree(self.pid)
        if self.running:
            self._process.terminate()
            try:
                self._process.wait(patience)
                _await_end(members)
            except subprocess.TimeoutExpired:
                members = tree(self.pid)
        self._kill(members)

    def kill(self) -> None:
        """`kill -9` of the whole tree."""
        self._kill(tree(self.pid))

    def tail(self, lines: int = 15) -> str:
        """The end of what it said."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def _kill(self, members: Iterable[int]) -> None:
        for pid in members:
            # A process of ours is in our session: a pid that was given away again is not.
            if _session(pid) == self.pid or pid == self.pid:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
        self._process.wait(30)


def _await_end(members: Iterable[int], patience: float = 5.0) -> None:
    """A JVM ends a moment after the Python it belongs to, and a recorder writes its file only then."""
    deadline = time.monotonic() + patience
    while any(_fields(pid) is not None for pid in members) and time.monotonic() < deadline:
        time.sleep(0.05)


def tree(root: int) -> list[int]:
    """A process, everything below it, and what is left of its session."""
    children: dict[int, list[int]] = {}
    found = []
    for pid, fields in _all():
        children.setdefault(int(fields[1]), []).append(pid)
        if int(fields[3]) == root:
            found.append(pid)
    below = [root]
    for pid in below:
        below.extend(children.get(pid, ()))
    return list(dict.fromkeys([*below, *found]))


def end_of(job_files: Path) -> None:
    """`kill -9` of programs whose job file lies below a folder, with all that belongs to them."""
    for pid, fields in list(_all()):
        try:
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        ours = (word.startswith(f"{job_files}/") and word.endswith("/job.json") for word in arguments)
        if int(fields[3]) == pid and any(ours):
            for member in tree(pid):
                with suppress(ProcessLookupError):
                    os.kill(member, signal.SIGKILL)


def usage(pids: Iterable[int]) -> Usage:
    """Processor seconds (with those of children that have ended) and resident bytes."""
    cpu = 0
    rss = 0
    for pid in pids:
        fields = _fields(pid)
        if fields is not None:
            cpu += sum(int(part) for part in fields[11:15])
            rss += int(fields[21]) * _PAGE
    return Usage(cpu / _TICKS, rss)


def threads_below(others: Iterable[int]) -> dict[tuple[int, int], tuple[str, float]]:
    """The name and processor seconds of every thread below this process, without those of others."""
    left_out = {os.getpid(), *others}
    found = {}
    for pid in tree(os.getpid()):
        if pid in left_out:
            continue
        for thread in Path(f"/proc/{pid}/task").glob("*/stat"):
            with suppress(OSError):
                text = thread.read_text(errors="replace")
                fields = text.rpartition(")")[2].split()
                name = text[text.index("(") + 1 : text.rindex(")")]
                found[pid, int(thread.parent.name)] = (name, (int(fields[11]) + int(fields[12])) / _TICKS)
    return found


def _all() -> Iterable[tuple[int, list[str]]]:
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (fields := _fields(int(entry.name))) is not None:
            yield int(entry.name), fields


def _fields(pid: int) -> list[str] | None:
    """The fields of /proc/pid/stat from the state on."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _session(pid: int) -> int | None:
    fields = _fields(pid)
    return None if fields is None else int(fields[3])
