"""A lock on a checkpoint that the JVM holds, because the JVM is what writes there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


class EngineLock:
    """Held until it is released or the JVM ends, which may be seconds after the end of Python."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    @classmethod
    def acquire(cls, spark: SparkSession, path: Path, timeout: float) -> EngineLock | None:
        """The lock, or None if another JVM keeps it for all of `timeout` seconds."""
        jvm: Any = spark._jvm
        lock = jvm.io.tidemill.spark.DirectoryLock.acquire(str(path), int(timeout * 1000))
        return None if lock is None else cls(lock)

    def release(self) -> None:
        """Give it up."""
        self._lock.release()
