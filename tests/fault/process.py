"""An app in a process of its own: armed with failpoints, frozen, killed; nothing of it is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("program.py")
PATIENCE = 240.0
"""Seconds to wait for anything: a busy machine is no failure."""


class AppProcess:
    """A running program of the fault matrix. Its events come as lines of JSON."""

    def __init__(self, plan: Mapping[str, Any], log: Path, **environment: str) -> None:
        self._log = log.open("ab")
        self.log = log
        self.events: list[dict[str, Any]] = []
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), json.dumps(plan)],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
            text=True,
        )
        self._session = self.process.pid
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    @property
    def error(self) -> dict[str, Any] | None:
        """The error the program ended with, as far as it could still tell."""
        return next((event for event in self.events if event["event"] == "error"), None)

    def seen(self, name: str) -> int:
        """How often an event came."""
        return sum(event["event"] == name for event in self.events)

    def await_running(self) -> None:
        self.until(lambda: self.seen("running"))
        assert self.seen("running"), self.tail()

    def arm(self, failpoints: str) -> None:
        """Set failpoints; they count from now on."""
        before = self.seen("armed")
        self._tell({"failpoint": failpoints})
        self.until(lambda: self.seen("armed") > before)

    def restarts(self) -> int:
        """How often its queries have been started again."""
        before = self.seen("metrics")
        self._tell({"metrics": True})
        self.until(lambda: self.seen("metrics") > before)
        told = [event for event in self.events if event["event"] == "metrics"]
        return int(told[-1]["restarts"]) if told else 0

    def kill(self, who: str = "all") -> None:
        """kill -9 of `python`, `jvm`, one Python `worker`, or `all` at once."""
        for pid in self.pids(who):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def freeze(self) -> None:
        for pid in self.members():
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        for pid in self.members():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def stop(self) -> int:
        """An orderly end."""
        if self.alive:
            self.process.terminate()
        return self.await_end()

    def await_end(self, timeout: float = PATIENCE) -> int:
        """Wait for the program, and for all it started: nothing may stay behind (I8)."""
        code = self.process.wait(timeout)
        deadline = time.monotonic() + 60
        while self.members():
            assert time.monotonic() < deadline, f"still there after the end: {self._names()}"
            time.sleep(0.1)
        return code

    def clean_up(self) -> None:
        """End everything at once, whatever state it is in."""
        for pid in self.members():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(30)
        self._log.close()

    def until(self, condition: Callable[[], Any], timeout: float = PATIENCE) -> None:
        """Wait for a condition, or for the end of the program."""
        deadline = time.monotonic() + timeout
        while not condition() and self.alive:
            assert time.monotonic() < deadline, f"it did not happen in time\n{self.tail()}"
            time.sleep(0.05)

    def members(self) -> list[int]:
        """Every living process of the program's session."""
        return [pid for pid in _processes() if _status(pid)[2] == self._session]

    def pids(self, who: str) -> list[int]:
        if who == "python":
            return [self.process.pid]
        if who == "jvm":
            return [pid for pid in self.members() if _status(pid)[0] == "java"]
        if who == "worker":
            daemons = [pid for pid in self.members() if b"pyspark.daemon" in _command(pid)]
            return [pid for pid in daemons if _status(pid)[1] in daemons][:1]
        return self.members()

    def tail(self) -> str:
        return f"{self.events[-5:]}\n{self.log.read_text(errors='replace')[-3000:]}"

    def _tell(self, command: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with suppress(ValueError):
                event = json.loads(line)
                if isinstance(event, dict) and "event" in event:
                    self.events.append(event)

    def _names(self) -> list[str]:
        return [f"{pid} {_status(pid)[0]}" for pid in self.members()]


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _status(pid: int) -> tuple[str, int, int]:
    """Name, parent and session; nothing of a process that is gone or a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "", 0, 0
    name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
    return ("", 0, 0) if rest[0] == "Z" else (name, int(rest[1]), int(rest[3]))


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
