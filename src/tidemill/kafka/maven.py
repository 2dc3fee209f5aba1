"""Maven repositories: coordinates, where files are served, and the download of one file."""

from __future__ import annotations

import base64
import errno
import http.client
import os
import re
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha512
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit
from xml.etree import ElementTree

from tidemill.errors import SetupError
from tidemill.kafka.pyspark_jars import pyspark_jar


@dataclass(frozen=True)
class Jar:
    """One file of a Maven repository, pinned by its hash."""

    group: str
    artifact: str
    version: str
    sha512: str
    size: int

    @property
    def name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"

    @property
    def path(self) -> str:
        """Relative to the root of any Maven repository."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.name}"

    def matches(self, file: Path) -> bool:
        """Whether `file` is this jar, byte for byte."""
        try:
            return file.stat().st_size == self.size and digest(file) == self.sha512
        except OSError:
            return False


class DownloadError(SetupError):
    """A jar could not be fetched; `offline` tells a dead network from a refusal."""

    def __init__(
        self, what: str, *, where: str | None = None, remedy: str | None = None, offline: bool = False
    ) -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.offline = offline


def digest(file: Path) -> str:
    """The SHA-512 of a file, in hex."""
    total = sha512()
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            total.update(chunk)
    return total.hexdigest()


def local_repository() -> Path:
    """Maven's own repository on this machine, which may already hold what we need."""
    return Path.home() / ".m2" / "repository"


def repository_url() -> str:
    """Where to download from: `TIDEMILL_MAVEN_URL`, a mirror of Maven's settings, or Spark's default."""
    url = (
        os.environ.get("TIDEMILL_MAVEN_URL") or _mirror(Path.home() / ".m2" / "settings.xml") or _sparks_own()
    )
    if urlsplit(url).scheme not in ("http", "https"):
        raise SetupError(
            "the Maven repository is not an http or https address",
            where=_without_password(url),
            remedy="correct TIDEMILL_MAVEN_URL, or the mirror in ~/.m2/settings.xml",
        )
    return url.rstrip("/") + "/"


def download(jar: Jar, root: str, part: Path, report: Callable[[int], None]) -> None:
    """Fetch `jar` from the repository at `root` into the file `part`, going on where an earlier try ended.

    `report` is told how many bytes of the file are there. On success the content is the pinned one; what
    arrived before a network error stays in `part`, a file that turned out wrong does not.
    """
    fresh = not part.exists()
    _download_with_retries(jar, root, part, report)
    if jar.matches(part):
        return
    if not fresh:
        # The beginning may stem from an interrupted run against a broken server: one clean try.
        part.unlink()
        _download_with_retries(jar, root, part, report)
        if jar.matches(part):
            return
    got, size = digest(part), part.stat().st_size
    part.unlink()
    raise DownloadError(
        f"the downloaded {jar.name} is not the pinned file: SHA-512 {got[:16]}…, {size} bytes instead of "
        f"{jar.sha512[:16]}…, {jar.size} bytes; it was removed",
        where=_without_password(root) + jar.path,
        remedy="try again; if it stays so, a mirror or proxy alters files: set TIDEMILL_MAVEN_URL to another",
    )


_CHUNK = 1 << 18
_TIMEOUT_SECONDS = 30
_ATTEMPTS = 4
_FIRST_PAUSE_SECONDS = 0.5
_WORTH_A_RETRY = {408, 425, 429, 500, 502, 503, 504}


def _download_with_retries(jar: Jar, root: str, part: Path, report: Callable[[int], None]) -> None:
    where = _without_password(root) + jar.path
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
        try:
            _transfer(jar, root, part, report)
            return
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416:  # the part is not a beginning of what the server has
                part.unlink(missing_ok=True)
            elif error.code not in _WORTH_A_RETRY:
                raise DownloadError(
                    f"the repository answers {error.code} {error.reason} for {jar.name}",
                    where=where,
                    remedy="set TIDEMILL_MAVEN_URL to a repository that has it (user:password@ works)",
                ) from error
            last: Exception = error
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DownloadError(
                    f"the disk is full: {jar.name} needs {jar.size} bytes",
                    where=str(part.parent),
                    remedy="free some space, or set TIDEMILL_CACHE_DIR to a directory on another disk",
                ) from error
            last = error
    raise DownloadError(f"{jar.name} cannot be fetched: {last}", where=where, offline=True) from last


def _transfer(jar: Jar, root: str, part: Path, report: Callable[[int], None]) -> None:
    have = part.stat().st_size if part.exists() else 0
    if have >= jar.size:
        if have > jar.size:
            part.unlink()
            have = 0
        else:
            return
    request = _request(root + jar.path)
    if have:
        request.add_header("Range", f"bytes={have}-")
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310 - checked in repository_url
        resumed = have > 0 and answer.status == 206
        total = have if resumed else 0
        with part.open("ab" if resumed else "wb") as stream:
            while chunk := answer.read(_CHUNK):
                stream.write(chunk)
                total += len(chunk)
                report(total)
                if total > jar.size:
                    return  # the hash will say so; no use in reading on
    if total < jar.size:
        raise http.client.IncompleteRead(b"", jar.size - total)


def _request(url: str) -> urllib.request.Request:
    parts = urlsplit(url)
    bare = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    request = urllib.request.Request(bare, headers={"User-Agent": "tidemill"})  # noqa: S310 - checked in repository_url
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        # Not sent on to where a redirect leads.
        request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(pair).decode())
    return request


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _mirror(settings: Path) -> str | None:
    """The mirror Maven would use for its central repository."""
    try:
        root = ElementTree.parse(settings).getroot()  # noqa: S314 - the user's own file
    except (OSError, ElementTree.ParseError):
        return None
    for mirror in root.iterfind("{*}mirrors/{*}mirror"):
        names = (mirror.findtext("{*}mirrorOf") or "").replace(" ", "").split(",")
        url = (mirror.findtext("{*}url") or "").strip()
        if url and "!central" not in names and {"central", "*", "external:*"} & set(names):
            return url
    return None


@cache
def _sparks_own() -> str:
    """The root that `spark.jars.packages` would resolve from.

    Spark ships Ivy, whose resolver holds the address of Maven's central repository as a constant. Reading it
    there keeps one source of truth: whatever Spark trusts is what we download from.
    """
    jar = pyspark_jar("ivy")
    with zipfile.ZipFile(jar) as archive:
        code = archive.read("org/apache/ivy/plugins/resolver/IBiblioResolver.class")
    for found in re.findall(rb"https://[\x21-\x7e]+/maven2/", code):
        return str(found, "ascii")
    raise SetupError(
        "the default Maven repository is not where it was in earlier versions of Spark",
        where=str(jar),
        remedy="set TIDEMILL_MAVEN_URL to the root of a Maven repository",
    )
