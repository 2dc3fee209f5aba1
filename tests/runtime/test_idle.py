"""What an app costs while nothing comes: with default settings, measured from outside."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from runtime.broker import until
from tidemill.kafka.embedded.pids import ProcessId

PROGRAM = Path(__file__).with_name("measured_program.py")
SETTLE_SECONDS = 20
SECONDS = 40


def cpu_seconds(pid: int) -> dict[str, float]:
    """Processor time of a process and its children: Python, and the Java it started."""
    pids = [pid]
    for each in pids:
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            pids += [int(child) for child in task.read_text().split()]
    found = {}
    for each in pids:
        process = ProcessId.of(each)
        if process is not None:
            found[f"{Path(f'/proc/{each}/comm').read_text().strip()}-{each}"] = process.cpu_seconds()
    return found


@pytest.mark.bench
@pytest.mark.parametrize("shape", ["stateless", "keyed-sum"])
def test_idle_app_takes_little(broker, topic, tmp_path, capsys, shape):
    source, target = topic("in", partitions=2), topic("out")
    command = [sys.executable, PROGRAM, shape, "throughput", broker.servers, tmp_path, source, target]
    app = subprocess.Popen(command)
    try:
        broker.produce(source, [{"key": "k", "value": (1).to_bytes(8, "big")}])
        until(lambda: broker.read(target), seconds=90)
        time.sleep(SETTLE_SECONDS)
        before = cpu_seconds(app.pid)
        time.sleep(SECONDS)
        after = cpu_seconds(app.pid)
    finally:
        app.terminate()
        app.wait(60)
    used = {name: 100 * (after[name] - before.get(name, 0)) / SECONDS for name in after}
    with capsys.disabled():
        parts = ", ".join(f"{name} {share:.1f} %" for name, share in used.items())
        print(f"\nidle {shape}: {sum(used.values()):.1f} % of a core ({parts})")
    assert sum(used.values()) < 5
