"""What `tidemill doctor` looks at: one small function per thing that can be wrong."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tidemill.cli.session import Session
from tidemill.cli.version import package_version
from tidemill.errors import TidemillError

GIB = 1 << 30


@dataclass(frozen=True)
class Check:
    """How one thing is, and what to do about it."""

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    remedy: str | None = None


def all_checks(session: Session) -> Iterator[Check]:
    """Every check, in the order things build on each other; a check that itself breaks is a failed one."""
    local: list[Callable[[], Check]] = [python, clock, java, memory, disk, cache, data, spark, kernel]
    for check in local:
        yield _guarded(check.__name__, check)
    yield from jars()
    yield from brokers(session)


def python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Check("python", "ok", f"{version} ({sys.executable})")


def clock() -> Check:
    """The clock cannot be before this file was written."""
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    if time.time() < Path(__file__).stat().st_mtime - 86_400:
        return Check(
            "clock", "fail", f"{now} is in the past", "set the clock: record timestamps come from it"
        )
    return Check("clock", "ok", now)


def java() -> Check:
    from tidemill.kafka.java import find_java

    found = find_java()
    return Check("java", "ok", f"{found.version} from {found.origin} ({found.home})")


def memory() -> Check:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        free, total = sizes["MemAvailable"], sizes["MemTotal"]
    except (OSError, KeyError, ValueError):
        return Check("memory", "warn", "cannot be told on this system", "have 2 GiB free")
    detail = f"{free / GIB:.1f} of {total / GIB:.1f} GiB free"
    if free < 0.5 * GIB:
        return Check("memory", "fail", detail, "end other programs: Kafka and Spark need about 1.5 GiB")
    if free < 1.5 * GIB:
        return Check("memory", "warn", detail, "Kafka and Spark together need about 1.5 GiB")
    return Check("memory", "ok", detail)


def disk() -> Check:
    from tidemill.kafka.paths import data_dir

    place = _existing(data_dir())
    free = shutil.disk_usage(place).free
    detail = f"{free / GIB:.1f} GiB free at {place}"
    if free < 0.2 * GIB:
        return Check("disk", "fail", detail, "free some space, or set TIDEMILL_DATA_DIR to another disk")
    if free < 2 * GIB:
        return Check("disk", "warn", detail, "free some space, or set TIDEMILL_DATA_DIR to another disk")
    return Check("disk", "ok", detail)


def cache() -> Check:
    from tidemill.kafka.paths import cache_dir

    return _writable("cache", cache_dir(), "TIDEMILL_CACHE_DIR")


def data() -> Check:
    from tidemill.kafka.paths import data_dir

    return _writable("data", data_dir(), "TIDEMILL_DATA_DIR")


def spark() -> Check:
    version = package_version("pyspark")
    if not version[0].isdigit():
        return Check("spark", "fail", f"PySpark is {version}", "pip install pyspark")
    major, minor = (int(part) for part in version.split(".")[:2])
    if (major, minor) < (4, 2):
        return Check("spark", "fail", f"PySpark {version} is too old", "pip install 'pyspark>=4.2'")
    return Check("spark", "ok", f"PySpark {version}")


def kernel() -> Check:
    import tidemill

    jar = Path(tidemill.__file__).parent / "engine" / "kernel.jar"
    if not jar.exists():
        return Check("kernel", "warn", "kernel.jar is not built", "`make kernel` in the repository builds it")
    return Check("kernel", "ok", f"{jar.stat().st_size >> 10} KiB ({jar})")


def jars() -> Iterator[Check]:
    """One line per set of jars."""
    from tidemill.kafka.jars import jar_set, jar_set_names, missing

    for name in jar_set_names():
        absent = missing(name)
        total = len(jar_set(name).jars)
        if absent:
            size = sum(jar.size for jar in absent) / (1 << 20)
            detail = f"{name}: {len(absent)} of {total} missing ({size:.1f} MiB)"
            yield Check("jars", "warn", detail, "`tidemill dev fetch` gets them; else the first use does")
        else:
            yield Check("jars", "ok", f"{name}: {total} present")


def brokers(session: Session) -> Iterator[Check]:
    """Whether the cluster answers, and the features exactly-once needs."""
    try:
        settings = session.settings
        found = session.admin.cluster()
    except TidemillError as error:
        named = "default" not in {entry.source for entry in session.settings.entries()}
        where = f" ({error.where})" if error.where else ""
        yield Check("broker", "fail" if named else "warn", error.what + where, error.remedy)
        return
    count = len(found.brokers)
    yield Check(
        "broker",
        "ok",
        f"{settings.bootstrap_servers}: {count} broker{'s' * (count != 1)}, cluster {found.id}",
    )
    if settings.get("security.protocol", "PLAINTEXT").upper() == "PLAINTEXT" and found.brokers:
        yield _guarded("features", lambda: _features(found.brokers[0].host, found.brokers[0].port))


def _features(host: str, port: int) -> Check:
    from tidemill.kafka.embedded.wire import finalized_features

    levels = finalized_features(host, port, timeout=2)
    transactions = levels.get("transaction.version", 0)
    shown = ("metadata.version", "transaction.version", "group.version")
    detail = ", ".join(f"{name}={levels[name]}" for name in shown if name in levels)
    if transactions < 2:
        remedy = "transaction.version=2 guards exactly-once better: kafka-features.sh upgrade"
        return Check("features", "warn", detail or "none", remedy)
    return Check("features", "ok", detail)


def _writable(name: str, directory: Path, variable: str) -> Check:
    place = _existing(directory)
    if os.access(place, os.W_OK | os.X_OK):
        return Check(name, "ok", f"{directory} is writable")
    return Check(
        name, "fail", f"{place} is not writable", f"change its rights, or set {variable} to another one"
    )


def _existing(path: Path) -> Path:
    while not path.exists():
        path = path.parent
    return path


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except TidemillError as error:
        return Check(name, "fail", error.what, error.remedy)
    except (OSError, ValueError) as error:
        return Check(name, "warn", f"cannot be told: {error}")
