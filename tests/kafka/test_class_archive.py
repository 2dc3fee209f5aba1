"""The archive of loaded classes, which halves the start of a broker, is made once and kept whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemill.kafka.embedded import Cluster, dev_fetch
from tidemill.kafka.embedded.jvm import Recording, Runtime
from tidemill.kafka.jars import jar_cache, resolve
from tidemill.kafka.java import find_java


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runtime:
    """The broker's Java and jars, with an empty cache."""
    resolve("spark-kafka")
    jars = tuple(resolve("kafka-broker"))
    monkeypatch.setenv("TIDEMILL_JARS", str(jar_cache()))
    monkeypatch.setenv("TIDEMILL_CACHE_DIR", str(tmp_path))
    return Runtime(find_java(), jars)


def flag_of(cluster: Cluster) -> list[str]:
    words = Path(f"/proc/{cluster.pids[1]}/cmdline").read_text().split("\0")
    return [word for word in words if word.endswith((".jsa", ".aot", ".part"))]


def test_fetch_makes_the_archive_and_the_next_start_uses_it(runtime: Runtime) -> None:
    dev_fetch()
    assert runtime.archive.stat().st_size > 10 << 20
    assert not list(runtime.archive.parent.glob("*.part*"))
    with Cluster() as cluster:
        assert [flag.partition("=")[2] for flag in flag_of(cluster)] == [str(runtime.archive)]


def test_killed_broker_leaves_no_archive(runtime: Runtime) -> None:
    with Cluster() as cluster:
        assert len(flag_of(cluster)) == 1
        cluster.kill()
    assert not runtime.archive.exists()
    assert not list(runtime.archive.parent.glob("*.part*"))


def test_only_one_records_at_a_time(runtime: Runtime) -> None:
    first, second = Recording(runtime), Recording(runtime)
    assert first.file is not None
    assert second.file is None
    first.end(whole=False)
    third = Recording(runtime)
    assert third.file is not None
    third.end(whole=False)
    assert not runtime.archive.exists()
