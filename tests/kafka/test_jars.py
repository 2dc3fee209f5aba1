"""Jars come from the folder, the cache, the local Maven repository or the network, and never wrong."""

from __future__ import annotations

import http.server
import threading
import time
from collections import Counter
from collections.abc import Iterator
from hashlib import sha512
from pathlib import Path

import pytest

from tidemill.errors import SetupError
from tidemill.kafka import jars, maven
from tidemill.kafka.embedded.format import KAFKA_VERSION
from tidemill.kafka.jars import JarSet, fetch, jar_set, jar_set_names, missing, resolve
from tidemill.kafka.maven import Jar
from tidemill.kafka.progress import Bar, Lines, Silent, default_progress


class Repository:
    """A Maven repository on the loopback interface that can be told to misbehave."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.headers: list[dict[str, str]] = []
        self.cut: dict[str, int] = {}
        self.failures: Counter[str] = Counter()
        self.pause = 0.0
        self.busy = self.most_busy = 0
        self.guard = threading.Lock()
        repository = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                repository.answer(self)

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/maven"

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        path = request.path.removeprefix("/maven/")
        wanted = request.headers.get("Range")
        with self.guard:
            self.requests.append((path, wanted))
            self.headers.append(dict(request.headers))
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
            failing = self.failures[path] > 0
            self.failures[path] -= failing
            cut = self.cut.pop(path, None)
        time.sleep(self.pause)
        body = self.files.get(path)
        if failing:
            request.send_error(503)
        elif body is None:
            request.send_error(404)
        else:
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
            request.send_response(206 if wanted else 200)
            request.send_header("Content-Length", str(len(body) - start))
            request.end_headers()
            request.wfile.write(body[start : None if cut is None else start + cut])
        with self.guard:
            self.busy -= 1


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Repository]:
    served = Repository()
    for name in ("TIDEMILL_JARS", "TIDEMILL_KAFKA_LIBS", "TIDEMILL_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TIDEMILL_MAVEN_URL", served.url)
    monkeypatch.setenv("TIDEMILL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(maven, "_FIRST_PAUSE_SECONDS", 0.01)
    yield served
    served.server.shutdown()
    served.server.server_close()


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch, repository: Repository) -> list[Jar]:
    """The set `fake` of six jars, which the repository has."""
    found = []
    for number in range(6):
        content = f"jar {number} ".encode() * 60_000
        jar = Jar("org.fake", f"part-{number}", "1.0", sha512(content).hexdigest(), len(content))
        repository.files[jar.path] = content
        found.append(jar)
    monkeypatch.setattr(jars, "jar_set", lambda name: JarSet(name, "fake", tuple(found)))
    return found


def put(file: Path, content: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def test_everything_is_downloaded_in_parallel_and_only_once(
    repository: Repository, pinned: list[Jar]
) -> None:
    repository.pause = 0.15
    assert missing("fake") == pinned
    files = resolve("fake", Silent())
    assert [file.read_bytes() for file in files] == [repository.files[jar.path] for jar in pinned]
    assert repository.most_busy == 4
    assert missing("fake") == []
    assert resolve("fake", Silent()) == files
    assert len(repository.requests) == len(pinned)


def test_interrupted_download_goes_on_where_it_ended(repository: Repository, pinned: list[Jar]) -> None:
    jar = pinned[0]
    repository.cut[jar.path] = 100_000
    resolve("fake", Silent())
    assert [wanted for path, wanted in repository.requests if path == jar.path] == [None, "bytes=100000-"]


def test_what_an_earlier_run_left_is_used(repository: Repository, pinned: list[Jar]) -> None:
    jar = pinned[0]
    target = jars.jar_cache() / jar.path
    put(target.with_name(f"{jar.name}.{jar.sha512[:12]}.part"), repository.files[jar.path][:250_000])
    resolve("fake", Silent())
    assert (jar.path, "bytes=250000-") in repository.requests


def test_wrong_leftover_is_fetched_anew(repository: Repository, pinned: list[Jar]) -> None:
    jar = pinned[0]
    target = jars.jar_cache() / jar.path
    put(target.with_name(f"{jar.name}.{jar.sha512[:12]}.part"), b"from elsewhere")
    resolve("fake", Silent())
    assert jar.matches(target)


def test_busy_server_is_asked_again(repository: Repository, pinned: list[Jar]) -> None:
    repository.failures[pinned[1].path] = 2
    resolve("fake", Silent())
    assert sum(path == pinned[1].path for path, _ in repository.requests) == 3


def test_altered_file_is_refused_and_removed(repository: Repository, pinned: list[Jar]) -> None:
    jar = pinned[2]
    repository.files[jar.path] = b"evil" * (jar.size // 4)
    with pytest.raises(SetupError, match=f"{jar.name} is not the pinned file") as caught:
        resolve("fake", Silent())
    assert caught.value.where == f"{repository.url}/{jar.path}"
    assert list((jars.jar_cache() / jar.path).parent.iterdir()) == []


def test_absent_file_is_an_error_at_once(repository: Repository, pinned: list[Jar]) -> None:
    del repository.files[pinned[3].path]
    with pytest.raises(SetupError, match=f"404 .* for {pinned[3].name}"):
        resolve("fake", Silent())
    assert sum(path == pinned[3].path for path, _ in repository.requests) == 1


def test_full_disk_is_named(repository: Repository, pinned: list[Jar]) -> None:
    jar = pinned[0]
    part = (jars.jar_cache() / jar.path).with_name(f"{jar.name}.{jar.sha512[:12]}.part")
    part.parent.mkdir(parents=True)
    part.symlink_to("/dev/full")
    with pytest.raises(SetupError, match="the disk is full") as caught:
        resolve("fake", Silent())
    assert "TIDEMILL_CACHE_DIR" in str(caught.value.remedy)


def test_two_at_once_download_once(repository: Repository, pinned: list[Jar]) -> None:
    repository.pause = 0.05
    results: list[list[Path]] = []
    threads = [threading.Thread(target=lambda: results.append(resolve("fake", Silent()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] == results[1] == results[2]
    assert len(repository.requests) == len(pinned)


@pytest.mark.parametrize("cause", ["set offline", "no network"])
def test_offline_error_lists_exactly_the_missing_files(
    repository: Repository, pinned: list[Jar], monkeypatch: pytest.MonkeyPatch, cause: str
) -> None:
    here = pinned[0]
    put(jars.jar_cache() / here.path, repository.files[here.path])
    if cause == "set offline":
        monkeypatch.setenv("TIDEMILL_OFFLINE", "1")
    else:
        monkeypatch.setenv("TIDEMILL_MAVEN_URL", "http://127.0.0.1:1/")
    with pytest.raises(SetupError) as caught:
        resolve("fake", Silent())
    listed = [line.strip() for line in str(caught.value).splitlines() if line.startswith("  ")]
    assert listed == [jar.path for jar in pinned[1:]]
    assert str(jars.jar_cache()) in str(caught.value)
    assert "TIDEMILL_JARS" in str(caught.value)
    assert repository.requests == []


def test_network_that_fails_midway_lists_only_what_is_left(repository: Repository, pinned: list[Jar]) -> None:
    repository.failures[pinned[5].path] = 99
    with pytest.raises(SetupError) as caught:
        resolve("fake", Silent())
    listed = [line.strip() for line in str(caught.value).splitlines() if line.startswith("  ")]
    assert listed == [pinned[5].path]
    repository.failures.clear()
    repository.requests.clear()
    assert len(resolve("fake", Silent())) == 6
    assert [path for path, _ in repository.requests] == [pinned[5].path]


@pytest.mark.parametrize("variable", ["TIDEMILL_JARS", "TIDEMILL_KAFKA_LIBS"])
def test_given_folder_wins_flat_or_with_paths(
    repository: Repository, pinned: list[Jar], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
) -> None:
    folder = tmp_path / "given"
    files = [
        put(folder / (jar.name if number % 2 else jar.path), repository.files[jar.path])
        for number, jar in enumerate(pinned)
    ]
    monkeypatch.setenv(variable, str(folder))
    monkeypatch.setenv("TIDEMILL_OFFLINE", "1")
    assert resolve("fake", Silent()) == files


def test_wrong_file_in_the_given_folder_is_refused(
    pinned: list[Jar], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = put(tmp_path / "given" / pinned[0].name, b"another version")
    monkeypatch.setenv("TIDEMILL_JARS", str(tmp_path / "given"))
    with pytest.raises(SetupError, match="is not the file") as caught:
        resolve("fake", Silent())
    assert caught.value.where == str(file)


def test_local_maven_repository_is_used_where_its_hash_is_right(
    repository: Repository, pinned: list[Jar], tmp_path: Path
) -> None:
    local = tmp_path / "home" / ".m2" / "repository"
    put(local / pinned[0].path, repository.files[pinned[0].path])
    put(local / pinned[1].path, b"x" * pinned[1].size)
    files = resolve("fake", Silent())
    assert files[0] == jars.jar_cache() / pinned[0].path
    fetched = {path for path, _ in repository.requests}
    assert pinned[0].path not in fetched
    assert pinned[1].path in fetched


def test_truncated_file_in_the_cache_is_replaced(repository: Repository, pinned: list[Jar]) -> None:
    put(jars.jar_cache() / pinned[0].path, b"short")
    assert pinned[0].matches(resolve("fake", Silent())[0])


def test_mirror_of_mavens_settings_is_used(
    repository: Repository, pinned: list[Jar], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TIDEMILL_MAVEN_URL")
    settings = (
        '<settings xmlns="urn:settings"><mirrors>'
        "<mirror><mirrorOf>other</mirrorOf><url>http://127.0.0.1:1/</url></mirror>"
        f"<mirror><mirrorOf>*,!internal</mirrorOf><url>{repository.url}</url></mirror>"
        "</mirrors></settings>"
    )
    put(tmp_path / "home" / ".m2" / "settings.xml", settings.encode())
    assert len(resolve("fake", Silent())) == len(pinned)


def test_default_repository_is_the_one_spark_uses(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TIDEMILL_MAVEN_URL")
    assert maven.repository_url().startswith("https://")
    assert maven.repository_url().endswith("/maven2/")


def test_credentials_are_sent_but_not_shown(
    repository: Repository, pinned: list[Jar], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMILL_MAVEN_URL", repository.url.replace("//", "//me:s%40cret@"))
    del repository.files[pinned[0].path]
    with pytest.raises(SetupError) as caught:
        resolve("fake", Silent())
    assert "cret" not in str(caught.value)
    assert repository.headers[0]["Authorization"] == "Basic bWU6c0BjcmV0"


def test_file_scheme_is_refused(
    repository: Repository, pinned: list[Jar], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMILL_MAVEN_URL", "file:///etc/")
    with pytest.raises(SetupError, match="not an http or https address"):
        resolve("fake", Silent())


def test_progress_is_told_on_stderr_line_by_line(
    repository: Repository, pinned: list[Jar], capsys: pytest.CaptureFixture[str]
) -> None:
    resolve("fake", Lines())
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == "tidemill: fetching 6 files, 2.1 MiB"
    assert len(err.splitlines()) == 7


def test_terminal_gets_a_bar_that_reaches_the_end(
    repository: Repository, pinned: list[Jar], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(default_progress(), Lines)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    bar = default_progress()
    assert isinstance(bar, Bar)
    resolve("fake", bar)
    task = bar._bar.tasks[0]
    assert task.completed == task.total == sum(jar.size for jar in pinned)


def test_locks_pin_every_jar_fully() -> None:
    assert jar_set_names() == ("ecj", "kafka-broker", "oracle", "spark-kafka")
    for name in jar_set_names():
        for jar in jar_set(name).jars:
            assert len(bytes.fromhex(jar.sha512)) == 64
            assert jar.size > 0
    clients = {jar for name in ("kafka-broker", "oracle", "spark-kafka") for jar in jar_set(name).jars}
    assert sum(jar.artifact == "kafka-clients" for jar in clients) == 1
    assert len(jar_set("kafka-broker").jars) == 21
    # The records a new cluster begins with are those of one Kafka version.
    assert {jar.version for jar in jar_set("kafka-broker").jars if jar.group == "org.apache.kafka"} == {
        KAFKA_VERSION
    }


def test_unknown_set_is_an_error() -> None:
    with pytest.raises(SetupError, match="no jar set `nonsense`"):
        fetch(["nonsense"])


def test_broker_set_is_completed_from_pyspark_without_importing_it() -> None:
    names = [file.name for file in resolve("kafka-broker")]
    assert len(names) == 32
    assert any(name.startswith("scala-library-2.13") for name in names)
