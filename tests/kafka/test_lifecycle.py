"""Clusters start, stop, break and come back, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tidemill.errors import SetupError, UsageError
from tidemill.kafka.embedded import Cluster, brokers
from tidemill.kafka.embedded import format as formatting
from tidemill.kafka.embedded.pids import ProcessId
from tidemill.kafka.embedded.ports import HOST, Reservation, holder_of, listens
from tidemill.testing.plugin import ClusterFactory


def create_topic(cluster: Cluster, name: str, partitions: int = 1) -> None:
    admin = AdminClient(cluster.client_config())
    admin.create_topics([NewTopic(name, partitions)])[name].result(20)


def test_broker_keeps_data_and_address_through_stop_kill_and_pause(
    kafka_cluster: ClusterFactory, write: Callable, read: Callable
) -> None:
    # A broker that comes back waits until the session of its former self has ended: 9 s by default.
    cluster = kafka_cluster(
        1, config={"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
    )
    create_topic(cluster, "kept")
    config, address, first = cluster.client_config(), cluster.bootstrap_servers, cluster.processes[1]
    write(config, "kept", ["before"])

    cluster.restart()
    assert not first.alive()
    write(config, "kept", ["restarted"])

    cluster.kill()
    assert cluster.pids == {}
    cluster.start_broker()
    assert cluster.bootstrap_servers == address
    write(config, "kept", ["killed"])

    cluster.pause()
    with pytest.raises(AssertionError, match="not acknowledged"):
        write(config, "kept", ["frozen"], **{"message.timeout.ms": 1000, "socket.timeout.ms": 1000})
    cluster.resume()
    write(config, "kept", ["resumed"])

    values = [message.value().decode() for message in read(config, "kept")]
    assert [value for value in values if value != "frozen"] == ["before", "restarted", "killed", "resumed"]
    with pytest.raises(UsageError, match="broker 1 runs already"):
        cluster.start_broker()
    with pytest.raises(UsageError, match="no broker 7"):
        cluster.kill(7)


def test_temporary_cluster_leaves_nothing(processes_of: Callable) -> None:
    with Cluster() as cluster:
        directory, process = cluster.directory, cluster.processes[1]
        assert directory.stat().st_mode & 0o777 == 0o700
        assert processes_of(directory) == [process.pid]
        # Processor time, unlike elapsed time, does not depend on what else the machine does.
        assert process.cpu_seconds() < 6
        assert process.resident_bytes() < 200 << 20
    assert not directory.exists()
    assert not process.alive()
    with pytest.raises(UsageError, match="not started"):
        _ = cluster.bootstrap_servers


def test_given_directory_keeps_the_cluster(tmp_path: Path, write: Callable, read: Callable) -> None:
    with Cluster(data_dir=tmp_path / "kept") as cluster:
        identity = cluster.cluster_id
        create_topic(cluster, "kept")
        write(cluster.client_config(), "kept", ["x"])
        with pytest.raises(SetupError, match="runs in this directory already"):
            Cluster(data_dir=tmp_path / "kept").start()
        assert Cluster.attach(tmp_path / "kept").client_config() == cluster.client_config()
    with pytest.raises(SetupError, match="of 1 brokers, not of 2"):
        Cluster(2, data_dir=tmp_path / "kept").start()
    with Cluster(data_dir=tmp_path / "kept") as again:
        assert again.cluster_id == identity
        assert [message.value() for message in read(again.client_config(), "kept")] == [b"x"]


def test_broken_broker_is_an_error_with_its_log_and_leaves_nothing(
    tmp_path: Path, processes_of: Callable
) -> None:
    with pytest.raises(SetupError, match="ended while it started") as caught:
        Cluster(data_dir=tmp_path, config={"num.io.threads": "many"}).start()
    assert "num.io.threads" in str(caught.value)
    assert processes_of(tmp_path) == []


def test_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match="files cannot be written: Not a directory") as caught:
        Cluster(data_dir=tmp_path / "file" / "cluster").start()
    assert str(tmp_path) in str(caught.value.where)


def test_slow_start_is_an_error_and_leaves_nothing(tmp_path: Path, processes_of: Callable) -> None:
    with pytest.raises(SetupError, match="is not ready after"):
        Cluster(data_dir=tmp_path).start(timeout=0.05)
    assert processes_of(tmp_path) == []


def test_cluster_without_feature_levels_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def format_badly(directory: Path, cluster_id: str, node: int) -> None:
        formatting.format_directory(directory, cluster_id, node)
        (directory / "bootstrap.checkpoint").unlink()

    monkeypatch.setattr(brokers, "format_directory", format_badly)
    with pytest.raises(SetupError, match=r"transaction\.version is 0, not 2"):
        Cluster().start()


def test_taken_port_is_named_with_its_holder(processes_of: Callable, tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SetupError, match=f"port {port} is taken") as caught:
            Cluster(port=port, data_dir=tmp_path).start()
        assert f"pid {os.getpid()}" in str(caught.value.where)
    assert processes_of(tmp_path) == []


def test_port_lost_in_the_last_moment_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    thieves: list[socket.socket] = []
    release = Reservation.release

    def steal(self: Reservation) -> None:
        ports = [held.getsockname()[1] for held in self._sockets]
        release(self)
        if not thieves:
            thieves.append(socket.create_server((HOST, ports[0])))

    monkeypatch.setattr(Reservation, "release", steal)
    with Cluster() as cluster:
        assert cluster.bootstrap_servers != f"{HOST}:{thieves[0].getsockname()[1]}"
    thieves[0].close()


def test_fixed_port_is_used(kafka_cluster: ClusterFactory) -> None:
    reservation = Reservation()
    port = reservation.free()
    reservation.release()
    cluster = kafka_cluster(1, port=port)
    assert cluster.bootstrap_servers == f"{HOST}:{port}"
    assert holder_of(port) == cluster.pids[1]
    assert not listens(os.getpid(), port)


CHILD = """
import sys, threading, time
from tidemill.kafka.embedded import Cluster
cluster = Cluster(data_dir=sys.argv[1])
starter = threading.Thread(target=cluster.start)
starter.start()
starter.join()
print(cluster.pids[1], flush=True)
{then}
"""


def run_child(directory: Path, then: str) -> tuple[subprocess.Popen[str], ProcessId]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD.format(then=then), directory], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    broker = ProcessId.of(int(child.stdout.readline()))
    assert broker is not None
    return child, broker


def test_broker_dies_with_a_killed_parent_but_not_with_the_thread_that_started_it(tmp_path: Path) -> None:
    child, broker = run_child(tmp_path, "time.sleep(600)")
    try:
        time.sleep(0.5)
        assert broker.alive()
    finally:
        child.kill()
        child.wait()
    assert broker.wait(5)


def test_broker_is_stopped_in_order_when_the_program_ends(tmp_path: Path) -> None:
    child, broker = run_child(tmp_path, "raise SystemExit(3)")
    assert child.wait(30) == 3
    assert broker.wait(5)
    assert (tmp_path / "node-1" / "data" / ".kafka_cleanshutdown").exists()


def test_leftovers_of_a_killed_program_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    script = (
        "from tidemill.kafka.embedded import Cluster; import os; Cluster().start(); os.kill(os.getpid(), 9)"
    )
    ended = subprocess.run([sys.executable, "-c", script], check=False)
    assert ended.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    # The kernel ends the broker with its program, though not in the same moment.
    deadline = time.monotonic() + 10
    while _runs_in(left) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)  # its memory is gone before its process is
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Cluster() as cluster:
        assert list(tmp_path.iterdir()) == [cluster.directory]


def _runs_in(directory: Path) -> bool:
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(directory).encode() in command.read_bytes():
                return True
        except OSError:
            continue
    return False


def test_reused_pid_is_not_signalled() -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        real = ProcessId.of(sleeper.pid)
        assert real is not None
        other = ProcessId(real.pid, real.started - 1, real.boot)
        assert not other.alive()
        assert not other.send(signal.SIGKILL)
        assert real.alive()
        assert real.send(signal.SIGKILL)
        assert real.wait(5)
        assert not real.send(signal.SIGKILL)
    finally:
        sleeper.kill()
        sleeper.wait()


def test_forked_child_does_not_stop_the_clusters_of_its_parent(kafka: Cluster) -> None:
    child = os.fork()
    if child == 0:
        from tidemill.kafka.embedded.cluster import _stop_all

        _stop_all()
        os._exit(0)
    os.waitpid(child, 0)
    assert kafka.running


def test_several_threads_start_clusters_at_once() -> None:
    clusters = [Cluster(name=f"cluster-{number}") for number in range(2)]
    threads = [threading.Thread(target=cluster.start) for cluster in clusters]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({cluster.bootstrap_servers for cluster in clusters}) == 2
    finally:
        for cluster in clusters:
            cluster.stop()
