"""Starts a program that cannot outlive us, unless it is meant to."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path


def spawn(
    command: Sequence[str], *, output: Path, environment: Mapping[str, str], detached: bool
) -> subprocess.Popen[bytes]:
    """Start `command` in a session of its own, so that Ctrl-C reaches only us; we then stop it in order.

    Where it is not `detached`, the kernel kills it when this process ends, however that happens.
    """
    if detached:
        return _start(command, output, environment)
    # The kernel acts when the *thread* that started the child ends, so a thread that never does starts it.
    tied = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(os.getpid()), *command]
    return _Starter.of_this_process().start(tied, output, environment)


# Runs between us and the broker, in the broker's process. Where the parent died before the signal was asked
# for, it never comes: hence the second look.
_LAUNCHER = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    os._exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""


def _start(command: Sequence[str], output: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with output.open("ab") as stream:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=dict(environment),
            start_new_session=True,
            cwd=output.parent,
        )


class _Starter:
    """A thread that lives as long as the process and starts children on request."""

    _current: _Starter | None = None
    _guard = threading.Lock()

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._jobs: queue.SimpleQueue[
            tuple[Future[subprocess.Popen[bytes]], Sequence[str], Path, Mapping[str, str]]
        ] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="tidemill-starter", daemon=True).start()

    @classmethod
    def of_this_process(cls) -> _Starter:
        with cls._guard:
            if cls._current is None or cls._current._pid != os.getpid():  # a fork has no threads
                cls._current = cls()
            return cls._current

    def start(
        self, command: Sequence[str], output: Path, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        answer: Future[subprocess.Popen[bytes]] = Future()
        self._jobs.put((answer, command, output, environment))
        return answer.result()

    def _work(self) -> None:
        while True:
            answer, command, output, environment = self._jobs.get()
            try:
                answer.set_result(_start(command, output, environment))
            except BaseException as error:  # noqa: BLE001 - handed to the caller
                answer.set_exception(error)
