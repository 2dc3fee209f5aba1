"""The workloads on Bytewax, a process per core; ends by itself at the end of the topics."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import bytewax.operators as op
from bytewax.connectors.kafka import KafkaSink, KafkaSinkMessage, KafkaSource
from bytewax.dataflow import Dataflow
from bytewax.operators import windowing as win
from bytewax.testing import cluster_main
from several import in_processes

Job = dict[str, Any]
_WINDOW_MS = 10_000
_LOOK = 1000


def project(flow: Dataflow, job: Job) -> Any:
    """W0."""
    large = op.filter("large", _events(flow, job), lambda event: event["amount"] >= 500)
    return op.map("project", large, _projected)


def word_count(flow: Dataflow, job: Job) -> Any:
    """W1: the count of each word, at the end."""
    lines = _read(flow, job, "lines")
    words = op.flat_map("words", lines, lambda message: message.value.decode().split(" "))
    counts = op.count_final("count", words, lambda word: word)
    return op.map("out", counts, lambda pair: (pair[0], json.dumps({"k": pair[0], "n": pair[1]})))


def tumbling_sum(flow: Dataflow, job: Job) -> Any:
    """W2: each sum once, when its window closes."""
    keyed = op.key_on("key", _events(flow, job), lambda event: event["user"])
    clock = win.EventClock(lambda event: event["at"], wait_for_system_duration=timedelta(seconds=5))
    align = datetime(2023, 1, 1, tzinfo=UTC)
    windower = win.TumblingWindower(length=timedelta(milliseconds=_WINDOW_MS), align_to=align)
    sums = win.fold_window(
        "sum", keyed, clock, windower, lambda: 0, lambda total, event: total + event["amount"], int.__add__
    )
    base = int(align.timestamp() * 1000)

    def name(item: tuple[str, tuple[int, int]]) -> tuple[str, str]:
        user, (window, total) = item
        return user, json.dumps({"k": f"{user}@{base + window * _WINDOW_MS}", "n": total})

    return op.map("out", sums.down, name)


def main(job: Job) -> None:
    """Run one job to the end of its topics."""
    number = in_processes(job["threads"])
    if number is None:
        # Now that every process has flushed its results, all records are finished.
        Path(job["progress_file"]).write_text(str(job["records"]))
        return
    flow = Dataflow("bench")
    out = op.map("message", WORKLOADS[job["workload"]](flow, job), _message)
    op.output(
        "write", out, KafkaSink([job["bootstrap"]], job["output"], add_config={"compression.type": "lz4"})
    )
    addresses = [f"127.0.0.1:{job['port'] + at}" for at in range(job["threads"])]
    cluster_main(flow, addresses, number, worker_count_per_proc=1)


def _read(flow: Dataflow, job: Job, role: str) -> Any:
    source = KafkaSource([job["bootstrap"]], [job["inputs"][role]], tail=False, batch_size=5000)
    count, told = 0, time.monotonic()
    # A part of it all: the parent says when results are written too.
    file = Path(f"{job['progress_file']}.{sys.argv[2]}")

    def counted(message: Any) -> Any:
        nonlocal count, told
        count += 1
        if not count % _LOOK and time.monotonic() > told + 0.1:
            told = time.monotonic()
            file.write_text(str(count))
        return message

    return op.map("counted", op.input("read", flow, source), counted)


def _events(flow: Dataflow, job: Job) -> Any:
    return op.map("parse", _read(flow, job, "events"), _parsed)


def _parsed(message: Any) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(message.value)
    event["at"] = datetime.fromtimestamp(message.timestamp[1] / 1000, tz=UTC)
    return event


def _projected(event: dict[str, Any]) -> tuple[str, str]:
    row = {"id": event["id"], "user": event["user"], "total": event["amount"] * 3}
    return event["user"], json.dumps(row)


def _message(pair: tuple[str, str]) -> KafkaSinkMessage[bytes, bytes]:
    return KafkaSinkMessage(pair[0].encode(), pair[1].encode())


WORKLOADS: dict[str, Callable[[Dataflow, Job], Any]] = {
    "W0": project,
    "W1": word_count,
    "W2": tumbling_sum,
}

if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
