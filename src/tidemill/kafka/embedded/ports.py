"""TCP ports of this machine: free ones, and who holds the taken ones."""

from __future__ import annotations

import random
import re
import socket
from collections.abc import Iterator
from pathlib import Path

from tidemill.errors import SetupError
from tidemill.kafka.embedded.pids import describe

HOST = "127.0.0.1"


class Reservation:
    """Ports that are ours until `release`, which comes just before the broker binds them."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []

    def free(self, wanted: int | None = None) -> int:
        """A free port: the wanted one if possible."""
        if wanted is not None and self._take(wanted):
            return wanted
        for port in _preferred():
            if self._take(port):
                return port
        return self._ask_kernel()

    def fixed(self, port: int) -> int:
        """This very port."""
        if self._take(port):
            return port
        holder = holder_of(port)
        raise SetupError(
            f"port {port} is taken",
            where=describe(holder) if holder else f"{HOST}:{port}, by a process of another user",
            remedy="stop that process, or choose another port",
        )

    def release(self) -> None:
        """Give all of them up."""
        for taken in self._sockets:
            taken.close()
        self._sockets.clear()

    def _take(self, port: int) -> bool:
        candidate = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            # As the JVM does: connections of an earlier broker that linger in TIME_WAIT are no obstacle.
            candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            candidate.bind((HOST, port))
            candidate.listen(1)
        except OSError:
            candidate.close()
            return False
        self._sockets.append(candidate)
        return True

    def _ask_kernel(self) -> int:
        candidate = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        candidate.bind((HOST, 0))
        self._sockets.append(candidate)
        return int(candidate.getsockname()[1])


def listens(pid: int, port: int) -> bool:
    """Whether this process is the one that listens on the port."""
    wanted = _listening_inodes(port)
    return bool(wanted) and not wanted.isdisjoint(_socket_inodes(pid))


def holder_of(port: int) -> int | None:
    """The pid that listens on the port, where it can be seen."""
    wanted = _listening_inodes(port)
    if not wanted:
        return None
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit() and not wanted.isdisjoint(_socket_inodes(int(directory.name))):
            return int(directory.name)
    return None


def _preferred() -> Iterator[int]:
    """Ports below the range the kernel uses for outgoing connections.

    A broker that is killed and started again needs the same port. From the outgoing range, another
    connection could get it meanwhile; a client that keeps trying to reach the dead broker could even be
    given that very port as its own and connect to itself.
    """
    try:
        lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError):
        return
    for _ in range(50):
        if lowest > 16_000:
            yield random.randrange(12_000, lowest)  # noqa: S311 - no secret


def _listening_inodes(port: int) -> set[str]:
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(fields[9])
    return found


def _socket_inodes(pid: int) -> set[str]:
    found = set()
    try:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            try:
                target = str(link.readlink())
            except OSError:
                continue
            if match := re.fullmatch(r"socket:\[(\d+)\]", target):
                found.add(match.group(1))
    except OSError:
        return set()
    return found
