"""One instance per application id and state directory: a lock that ends with the process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tidemill.errors import TidemillError


class AlreadyRunningError(TidemillError):
    """Another process runs the app from the same state directory."""

    code = "ALREADY_RUNNING"


class InstanceLock:
    """Held from start to stop. The kernel releases it when the process dies, however that happens."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._descriptor: int | None = None

    def acquire(self, application_id: str) -> None:
        """Take the lock or say who has it."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip()
            os.close(descriptor)
            raise already_running(application_id, self._path.parent, holder) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        self._descriptor = descriptor

    def release(self) -> None:
        """Let the next one in."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def already_running(application_id: str, folder: Path, holder: str) -> AlreadyRunningError:
    """The refusal of a second instance."""
    by = f" (process {holder})" if holder else ""
    return AlreadyRunningError(
        f"the app `{application_id}` runs already{by}",
        where=str(folder),
        remedy="stop it first; one more instance needs an application id of its own",
    )
