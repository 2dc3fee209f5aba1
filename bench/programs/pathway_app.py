"""The workloads on Pathway, with as many threads as there are cores."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Job = dict[str, Any]
_JOB: Job = json.loads(Path(sys.argv[1]).read_text())
os.environ["PATHWAY_THREADS"] = str(_JOB["threads"])  # read when the package is loaded

import pathway as pw  # noqa: E402

_WINDOW_MS = 10_000


class Event(pw.Schema):
    """What is used of an event."""

    number: int  # its id, a name that Pathway keeps for itself
    user: str
    amount: int


def project(job: Job) -> Any:
    """W0."""
    events = _counted(_events(job), job)
    large = events.filter(pw.this.amount >= 500)
    number, total = pw.this.number.to_string(), (pw.this.amount * 3).to_string()
    return large.select(value='{"id":' + number + ',"user":"' + pw.this.user + '","total":' + total + "}")


def word_count(job: Job) -> Any:
    """W1."""
    lines = _counted(pw.io.kafka.read(_settings(job), job["inputs"]["lines"], format="plaintext"), job)
    words = lines.select(word=_words(pw.this.data)).flatten(pw.this.word)
    return words.groupby(pw.this.word).reduce(k=pw.this.word, n=pw.reducers.count())


@pw.udf
def _words(line: str) -> list[str]:
    return line.split(" ")


def tumbling_sum(job: Job) -> Any:
    """W2: windows by their start, so that every update is sent."""
    events = _counted(_events(job, with_metadata=True), job)
    at = pw.this._metadata["timestamp_millis"].as_int()
    timed = events.select(user=pw.this.user, amount=pw.this.amount, at=pw.unwrap(at))
    starts = timed.with_columns(start=pw.this.at - pw.this.at % _WINDOW_MS)
    sums = starts.groupby(pw.this.user, pw.this.start).reduce(
        user=pw.this.user, start=pw.this.start, n=pw.reducers.sum(pw.this.amount)
    )
    return sums.select(k=pw.this.user + "@" + pw.this.start.to_string(), n=pw.this.n)


def main(job: Job) -> None:
    """Run one job until it is killed."""
    table = WORKLOADS[job["workload"]](job)
    if job["workload"] == "W0":
        # JSON made by hand: the format of its own would add columns, and cannot name one `id`.
        pw.io.kafka.write(table, _settings(job), job["output"], format="plaintext", value=table.value)
    else:
        pw.io.kafka.write(table, _settings(job), job["output"], format="json")
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)


def _events(job: Job, **options: Any) -> Any:
    return pw.io.kafka.read(
        _settings(job),
        job["inputs"]["events"],
        format="json",
        schema=Event,
        json_field_paths={"number": "/id"},
        **options,
    )


def _counted(rows: Any, job: Job) -> Any:
    file = Path(job["progress_file"])

    def told(key: Any, row: dict[str, int], time: int, is_addition: bool) -> None:  # noqa: ARG001 -- by name
        if is_addition:
            file.write_text(str(row["n"]))

    pw.io.subscribe(rows.reduce(n=pw.reducers.count()), told)
    return rows


def _settings(job: Job) -> dict[str, str]:
    return {
        "bootstrap.servers": job["bootstrap"],
        "group.id": job["application_id"],
        "auto.offset.reset": "earliest",
        "compression.type": "lz4",
    }


WORKLOADS: dict[str, Callable[[Job], Any]] = {"W0": project, "W1": word_count, "W2": tumbling_sum}

if __name__ == "__main__":
    main(_JOB)
