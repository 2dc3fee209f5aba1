"""One broker process: started, watched until it serves, stopped, killed, paused."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tidemill.kafka.embedded import wire
from tidemill.kafka.embedded.format import REQUIRED_FEATURES
from tidemill.kafka.embedded.layout import Layout
from tidemill.kafka.embedded.pids import ProcessId
from tidemill.kafka.embedded.ports import HOST, listens
from tidemill.kafka.embedded.process import spawn
from tidemill.kafka.embedded.state import NodeState

STOP_SECONDS = 20.0


class Node:
    """Broker `state.node`. Its `state` is shared with the cluster, which writes it down."""

    def __init__(self, state: NodeState, layout: Layout) -> None:
        self.state = state
        self._layout = layout
        self._child: subprocess.Popen[bytes] | None = None
        self.features: dict[str, int] = {}
        """The feature levels it reported when it was found ready."""

    @property
    def number(self) -> int:
        return self.state.node

    @property
    def process(self) -> ProcessId | None:
        """The running process, if there is one."""
        self._reap()
        return self.state.process if self.state.alive else None

    def start(self, command: Sequence[str], *, detached: bool) -> None:
        """Start the process; it serves a little later."""
        # Fewer malloc arenas: less memory for the same work.
        environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}
        for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"):
            environment.pop(name, None)
        output = self._layout.output(self.number)
        self._child = spawn(command, output=output, environment=environment, detached=detached)
        self.state.process = ProcessId.of(self._child.pid)

    def obstacle(self, cluster_id: str, brokers: int) -> str | None:
        """Why this broker cannot be used yet; None when it serves, is ours and sees the whole cluster."""
        process, port = self.process, self.state.ports["plaintext"]
        if process is None:
            return "the process has ended"
        if not listens(process.pid, port):
            return f"it does not listen on port {port} yet"
        try:
            view = wire.cluster_view(HOST, port)
            if view.cluster_id != cluster_id:
                return f"it belongs to cluster {view.cluster_id}, not to {cluster_id}"
            if len(view.brokers) < brokers:
                return f"it sees the brokers {list(view.brokers)}, not all {brokers}"
            self.features = wire.finalized_features(HOST, port)
        except OSError as error:
            return f"it does not answer on port {port}: {error}"
        return None

    def shortcoming(self) -> str | None:
        """What makes a broker that serves unfit; it does not heal with time."""
        for feature, level in REQUIRED_FEATURES.items():
            if self.features.get(feature, 0) < level:
                return f"{feature} is {self.features.get(feature, 0)}, not {level}"
        return None

    def signal_stop(self) -> None:
        """Ask it to stop, without waiting."""
        if process := self.process:
            process.send(signal.SIGCONT)
            process.send(signal.SIGTERM)

    def await_stop(self, seconds: float = STOP_SECONDS) -> bool:
        """Wait for the end, by force after `seconds`; whether it went by itself."""
        process = self.process
        if process is None:
            return True
        clean = self._gone(process, seconds)
        if not clean:
            self.kill()
        return clean

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        if process := self.process:
            process.send(signal.SIGKILL)
            self._gone(process, STOP_SECONDS)

    def pause(self) -> None:
        """Freeze it: connections stay open, nothing is answered."""
        if process := self.process:
            process.send(signal.SIGSTOP)

    def resume(self) -> None:
        if process := self.process:
            process.send(signal.SIGCONT)

    def clashed(self) -> bool:
        """Whether it ended because a port was taken."""
        return self.process is None and "Address already in use" in self.tail(200)

    def tail(self, lines: int) -> str:
        """The end of its log and of what the JVM printed."""
        return "\n".join(
            text
            for file in (self._layout.log(self.number), self._layout.output(self.number))
            if (text := _tail(file, lines))
        )

    def _gone(self, process: ProcessId, seconds: float) -> bool:
        ended = process.wait(seconds)
        self._reap()
        return ended

    def _reap(self) -> None:
        if self._child is not None and self._child.poll() is not None:
            self._child = None


def _tail(file: Path, lines: int) -> str:
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, file.stat().st_size - 64_000))
            text = stream.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])
