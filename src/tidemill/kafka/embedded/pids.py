"""Processes named so that they cannot be mistaken: a pid alone may belong to someone else by now."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class ProcessId:
    """A pid with the moment its process began, so that a reused pid is never signalled."""

    pid: int
    started: int
    """Clock ticks since boot."""
    boot: str

    @classmethod
    def of(cls, pid: int) -> ProcessId | None:
        """The process that has this pid now."""
        found = _stat(pid)
        return None if found is None else cls(pid, found[1], _boot())

    def alive(self) -> bool:
        """Whether it still runs; one that ended and was not reaped yet does not."""
        found = _stat(self.pid)
        return found is not None and found[0] != "Z" and found[1] == self.started and self.boot == _boot()

    def send(self, number: signal.Signals) -> bool:
        """Signal the process; False where it is gone."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return False
        try:
            # The handle pins the process: whatever the check says still holds when the signal is sent.
            if not self.alive():
                return False
            signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            return False
        finally:
            os.close(handle)
        return True

    def wait(self, seconds: float) -> bool:
        """Whether it ended within this time."""
        end = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() >= end:
                return False
            time.sleep(0.02)
        return True

    def resident_bytes(self) -> int:
        """The physical memory it occupies."""
        try:
            pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def cpu_seconds(self) -> float:
        """The processor time it has used."""
        try:
            fields = _after_name(Path(f"/proc/{self.pid}/stat").read_text())
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def describe(pid: int) -> str:
    """A pid with its command, for messages."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        words = []
    command = " ".join(words).strip()
    if len(command) > 100:
        command = f"{command[:60]} … {command[-30:]}"
    return f"pid {pid}: {command}" if command else f"pid {pid}"


def _stat(pid: int) -> tuple[str, int] | None:
    """State and start time."""
    try:
        fields = _after_name(Path(f"/proc/{pid}/stat").read_text())
    except OSError:
        return None
    return fields[0], int(fields[19])


def _after_name(stat: str) -> list[str]:
    # The second field is the command in parentheses and may hold spaces and parentheses itself.
    return stat.rpartition(")")[2].split()


@cache
def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
