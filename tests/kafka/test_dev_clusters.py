"""Development clusters are found by name from any process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tidemill.errors import NotFound, SetupError, UsageError
from tidemill.kafka.embedded import (
    dev_cluster,
    dev_down,
    dev_log_files,
    dev_names,
    dev_status,
    dev_up,
)


@pytest.fixture(autouse=True)
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setenv("TIDEMILL_DATA_DIR", str(tmp_path))
    yield tmp_path
    for name in dev_names():
        dev_down(name, purge=True)


def test_detached_cluster_outlives_its_starter_and_is_stopped_by_name(
    data: Path, write: Callable, read: Callable, processes_of: Callable
) -> None:
    script = "from tidemill.kafka.embedded import dev_up; dev_up(port=None, detach=True)"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=90)
    status = dev_status()
    assert status.state == "running"
    assert status.detached
    assert dev_names() == ["default"]
    assert [broker.pid for broker in status.brokers] == processes_of(data)
    assert status.brokers[0].resident_bytes > 0
    config = dev_cluster().client_config()
    assert config["bootstrap.servers"] == status.bootstrap_servers
    write(config, "made-on-first-use", ["kept"])
    assert dev_log_files()[0].read_text() != ""
    with pytest.raises(SetupError, match="runs already"):
        dev_up(port=None)

    assert dev_down().state == "running"
    assert processes_of(data) == []
    assert dev_status().state == "stopped"
    with pytest.raises(NotFound, match="no development cluster `default` runs"):
        dev_down()

    cluster = dev_up(port=None)
    assert cluster.cluster_id == status.cluster_id
    found = read(cluster.client_config(), "made-on-first-use")
    assert [message.value() for message in found] == [b"kept"]
    dev_down(purge=True)
    cluster.wait()
    assert dev_status().state == "absent"
    assert dev_names() == []


def test_purge_of_a_given_directory_spares_other_files(data: Path) -> None:
    mine = data / "elsewhere"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    cluster = dev_up("other", port=None, data_dir=mine)
    assert dev_status("other").directory == mine
    dev_down("other", purge=True)
    cluster.stop()
    assert [file.name for file in mine.iterdir()] == ["notes.txt"]


def test_unknown_cluster_and_bad_name() -> None:
    assert dev_status("nobody").state == "absent"
    assert dev_log_files("nobody") == []
    with pytest.raises(NotFound, match="there is no development cluster `nobody`"):
        dev_down("nobody")
    with pytest.raises(NotFound, match="no development cluster `nobody` runs"):
        dev_cluster("nobody")
    with pytest.raises(UsageError, match="cannot name"):
        dev_up("../evil")
