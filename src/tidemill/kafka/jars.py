"""The jars Tidemill needs, pinned in lock files and fetched once: `resolve("ecj")` gives the files."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from tidemill.errors import SetupError
from tidemill.kafka import maven
from tidemill.kafka.maven import DownloadError, Jar
from tidemill.kafka.paths import cache_dir
from tidemill.kafka.progress import Progress, default_progress
from tidemill.kafka.pyspark_jars import pyspark_jar


@dataclass(frozen=True)
class JarSet:
    """Jars that are used together, as a lock file lists them."""

    name: str
    purpose: str
    jars: tuple[Jar, ...]
    from_pyspark: tuple[str, ...] = ()
    """Artifacts taken from PySpark's own jars instead of being downloaded."""

    @property
    def size(self) -> int:
        return sum(jar.size for jar in self.jars)


def jar_set_names() -> tuple[str, ...]:
    """The names of all sets."""
    return tuple(
        sorted(file.name.removesuffix(".json") for file in _locks().iterdir() if file.name.endswith(".json"))
    )


@cache
def jar_set(name: str) -> JarSet:
    """The set called `name`, as pinned in this version of Tidemill."""
    try:
        lock = json.loads((_locks() / f"{name}.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SetupError(
            f"there is no jar set `{name}`", remedy=f"use one of {', '.join(jar_set_names())}"
        ) from None
    return JarSet(
        name=name,
        purpose=lock["purpose"],
        jars=tuple(Jar(**jar) for jar in lock["jars"]),
        from_pyspark=tuple(lock["from_pyspark"]),
    )


def resolve(name: str, progress: Progress | None = None) -> list[Path]:
    """The files of a set, downloaded where they are not here yet.

    Looked for in this order: the folder `TIDEMILL_JARS` (or `TIDEMILL_KAFKA_LIBS`), our cache, the local
    Maven repository, and the repository `maven.repository_url()`. Every file is checked against the lock.
    """
    return fetch([name], progress)[name]


def fetch(names: Iterable[str], progress: Progress | None = None) -> dict[str, list[Path]]:
    """`resolve` for several sets in one go."""
    sets = [jar_set(name) for name in names]
    wanted = list(dict.fromkeys(jar for one in sets for jar in one.jars))
    found = {jar: file for jar in wanted if (file := _local(jar))}
    absent = [jar for jar in wanted if jar not in found]
    if absent:
        found |= _obtain(absent, progress or default_progress())
    return {
        one.name: [found[jar] for jar in one.jars] + [pyspark_jar(artifact) for artifact in one.from_pyspark]
        for one in sets
    }


def missing(name: str) -> list[Jar]:
    """The jars of a set that are not on this machine yet."""
    return [jar for jar in jar_set(name).jars if _local(jar) is None and not _in_local_maven(jar)]


def jar_cache() -> Path:
    """Where downloads are kept, laid out like a Maven repository."""
    return cache_dir() / "jars"


_PARALLEL = 4


def _locks() -> resources.abc.Traversable:
    return resources.files("tidemill.kafka") / "locks"


def _local(jar: Jar) -> Path | None:
    """The jar in the user's folder or our cache."""
    for folder in _given_folders():
        for file in (folder / jar.path, folder / jar.name):
            if file.is_file():
                if jar.matches(file):
                    return file
                raise SetupError(
                    f"{jar.name} is not the file that Tidemill was tested with (its SHA-512 differs)",
                    where=str(file),
                    remedy="replace it, or remove it from the folder that TIDEMILL_JARS names",
                )
    cached = jar_cache() / jar.path
    try:
        # The hash was checked when the file came in; only verified files get this name.
        return cached if cached.stat().st_size == jar.size else None
    except OSError:
        return None


def _given_folders() -> list[Path]:
    given = (os.environ.get(name) for name in ("TIDEMILL_JARS", "TIDEMILL_KAFKA_LIBS"))
    return [Path(folder).expanduser() for folder in given if folder]


def _in_local_maven(jar: Jar) -> bool:
    return jar.matches(maven.local_repository() / jar.path)


def _obtain(absent: Sequence[Jar], progress: Progress) -> dict[Jar, Path]:
    with _cache_lock():
        # Another process may have fetched them while we waited for the lock.
        for jar in absent:
            if _local(jar) is None and _in_local_maven(jar):
                _admit_copy(maven.local_repository() / jar.path, jar)
        rest = [jar for jar in absent if _local(jar) is None]
        if rest:
            _download(rest, progress)
    # Everything is in the cache now, unless it turned up in the user's folder meanwhile.
    return {jar: _local(jar) or jar_cache() / jar.path for jar in absent}


@contextmanager
def _cache_lock() -> Iterator[None]:
    """One process at a time fills the cache."""
    try:
        jar_cache().mkdir(parents=True, exist_ok=True)
        lock = (jar_cache() / ".lock").open("w")
    except OSError as error:
        raise _unwritable(error) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _download(jars: Sequence[Jar], progress: Progress) -> None:
    if os.environ.get("TIDEMILL_OFFLINE", "") not in ("", "0"):
        raise _out_of_reach(jars, "TIDEMILL_OFFLINE is set")
    root = maven.repository_url()
    progress.begin(jars)
    try:
        with ThreadPoolExecutor(_PARALLEL) as pool:
            # Large files first: they decide when it ends.
            ordered = sorted(jars, key=lambda jar: -jar.size)
            futures = {jar: pool.submit(_download_one, jar, root, progress) for jar in ordered}
            try:
                for future in futures.values():
                    future.result()
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
    except DownloadError as error:
        if not error.offline:
            raise
        absent = [jar for jar in jars if _local(jar) is None]
        raise _out_of_reach(absent, str(error)) from error
    finally:
        progress.end()


def _download_one(jar: Jar, root: str, progress: Progress) -> None:
    target = jar_cache() / jar.path
    part = target.with_name(f"{jar.name}.{jar.sha512[:12]}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(error) from error
    maven.download(jar, root, part, lambda size: progress.at(jar, size))
    part.replace(target)
    progress.done(jar)


def _admit_copy(source: Path, jar: Jar) -> None:
    target = jar_cache() / jar.path
    part = target.with_name(f"{jar.name}.copy")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, part)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _unwritable(error) from error


def _out_of_reach(jars: Sequence[Jar], reason: str) -> SetupError:
    files = "\n".join(f"  {jar.path}" for jar in jars)
    return SetupError(
        f"{len(jars)} jars are missing and cannot be downloaded: {reason}\n{files}\n",
        where=f"cache: {jar_cache()}",
        remedy=(
            "put them below that cache directory under these paths, or into any folder (flat or with these "
            "paths) named by TIDEMILL_JARS, or run `tidemill dev fetch` where there is a network; "
            "TIDEMILL_MAVEN_URL names a mirror"
        ),
    )


def _unwritable(error: OSError) -> SetupError:
    return SetupError(
        f"the jar cache cannot be written: {error.strerror or error}",
        where=str(jar_cache()),
        remedy="make it writable or free some space, or set TIDEMILL_CACHE_DIR to another directory",
    )
