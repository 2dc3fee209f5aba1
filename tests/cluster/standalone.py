"""A standalone Spark cluster on loopback, from the pip package: a master and workers of one core each."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pyspark

from tidemill.kafka.java import find_java, spark_java_home

SPARK_HOME = Path(pyspark.__file__).parent


class Standalone:
    """Started on entry, stopped on exit; nothing of it listens beyond loopback."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder = folder
        self._count = workers
        self._daemons: list[subprocess.Popen[bytes]] = []
        self.url = ""

    def __enter__(self) -> Standalone:
        port = _free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self._start("master.Master", "--port", str(port))
        _wait_for(port)
        for number in range(self._count):
            work = self._folder / f"work-{number}"
            self._start("worker.Worker", "-c", "1", "-m", "1g", "-d", str(work), self.url)
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self.executors():
            _kill(pid)
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()

    def executors(self) -> list[int]:
        """The processes the workers have started to run tasks in."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                    words = (entry / "cmdline").read_bytes()
                except (OSError, ValueError):
                    continue
                if b"CoarseGrainedExecutorBackend" in words and parent in {d.pid for d in self._daemons}:
                    found.append(int(entry.name))
        return found

    def kill_one(self) -> int:
        """Kill -9 an executor; its worker starts another."""
        pid = self.executors()[0]
        _kill(pid)
        return pid

    def log(self) -> str:
        """What the daemons and the executors have said, for a test that failed."""
        files = [*self._folder.glob("*.log"), *self._folder.glob("work-*/*/*/stderr")]
        return "\n".join(f"== {file}\n{file.read_text(errors='replace')[-3000:]}" for file in files)

    def _start(self, name: str, *arguments: str) -> None:
        java = spark_java_home(find_java())
        environ = {
            **os.environ,
            "JAVA_HOME": str(java),
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }
        where = ("--host", "127.0.0.1", "--webui-port", "0")
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / f"{len(self._daemons)}.log").open("ab") as log:
            # The script replaces itself by the JVM, so the child is the daemon.
            command = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}"]
            self._daemons.append(
                subprocess.Popen([*command, *where, *arguments], env=environ, stdout=log, stderr=log)
            )


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "the master did not start"
            time.sleep(0.1)
