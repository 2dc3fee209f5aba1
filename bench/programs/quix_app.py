"""The workloads on Quix Streams, in as many processes as there are cores."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import quixstreams.dataframe.windows.aggregations as agg
from quixstreams import Application
from several import in_processes

Job = dict[str, Any]
Frame = Any
_WINDOW_MS = 10_000
_GRACE_MS = 5_000


def project(app: Application, job: Job) -> Frame:
    """W0."""
    rows = _events(app, job, "events").filter(lambda event: event["amount"] >= 500)
    return rows.apply(lambda event: {"id": event["id"], "user": event["user"], "total": event["amount"] * 3})


def word_count(app: Application, job: Job) -> Frame:
    """W1."""
    lines = app.dataframe(app.topic(job["inputs"]["lines"], value_deserializer="str"))
    words = lines.apply(lambda line: line.split(" "), expand=True)
    text = {"value_deserializer": "str", "value_serializer": "str"}
    keys = {"key_deserializer": "str", "key_serializer": "str"}
    return _counted(words.group_by(lambda word: word, name="by-word", **text, **keys))


def tumbling_sum(app: Application, job: Job) -> Frame:
    """W2."""
    sums = _events(app, job, "events").tumbling_window(_WINDOW_MS, _GRACE_MS)
    return _windowed(sums.agg(value=agg.Sum("amount")).current())


def sliding_sum(app: Application, job: Job) -> Frame:
    """W3."""
    sums = _events(app, job, "events").sliding_window(_WINDOW_MS, _GRACE_MS)
    return _windowed(sums.agg(value=agg.Sum("amount")).current())


def stream_table_join(app: Application, job: Job) -> Frame:
    """W4."""
    return _located(app, job)


def stream_stream_join(app: Application, job: Job) -> Frame:
    """W5."""
    left, right = (_events(app, job, side) for side in ("left", "right"))
    return left.join_interval(
        right,
        how="inner",
        on_merge=lambda one, other: {"left": one["id"], "right": other["id"]},
        grace_ms=2 * _GRACE_MS,
        backward_ms=_GRACE_MS,
        forward_ms=_GRACE_MS,
    )


def join_then_count(app: Application, job: Job) -> Frame:
    """W7."""
    keys = {"key_deserializer": "str", "key_serializer": "str"}
    by_city = _located(app, job).group_by("city", name="by-city", **keys)
    counts = by_city.tumbling_window(_WINDOW_MS, 3_600_000)
    return _windowed(counts.agg(value=agg.Count()).current())


def sum_per_key(app: Application, job: Job) -> Frame:
    """The sum of each key."""

    def add(event: dict[str, Any], state: Any) -> dict[str, Any]:
        total = state.get("total", 0) + event["amount"]
        state.set("total", total)
        return {"k": event["user"], "n": total}

    return _events(app, job, "events").apply(add, stateful=True)


def main(job: Job) -> None:
    """Run one job in every process until a signal comes."""
    number = in_processes(job["threads"])
    if number is None:
        return
    app = Application(
        job["bootstrap"],
        consumer_group=job["application_id"],
        auto_offset_reset="earliest",
        commit_interval=1.0,
        processing_guarantee="exactly-once" if job["guarantee"] == "exactly_once_v2" else "at-least-once",
        # The processes must not meet in one folder.
        state_dir=Path(job["state_dir"]) / str(number),
        producer_extra_config={"compression.type": "lz4", **job["settings"]},
        loglevel="WARNING",
    )
    frame = WORKLOADS[job["workload"]](app, job)
    frame.to_topic(app.topic(job["output"], key_serializer=_key_form(job)))
    app.run()


def _key_form(job: Job) -> str:
    return "str" if job["workload"] in ("W1", "W7") else "bytes"


def _events(app: Application, job: Job, role: str) -> Frame:
    return app.dataframe(app.topic(job["inputs"][role], value_deserializer="json"))


def _located(app: Application, job: Job) -> Frame:
    people = app.dataframe(app.topic(job["inputs"]["table"], value_deserializer="json"))
    return _events(app, job, "events").join_asof(
        people,
        on_merge=lambda event, person: {"id": event["id"], "amount": event["amount"], "city": person["city"]},
    )


def _counted(frame: Frame) -> Frame:
    def count(word: str, state: Any) -> dict[str, Any]:
        total = state.get("count", 0) + 1
        state.set("count", total)
        return {"k": word, "n": total}

    return frame.apply(count, stateful=True)


def _windowed(frame: Frame) -> Frame:
    def name(window: dict[str, Any], key: Any, *_: Any) -> dict[str, Any]:
        text = key.decode() if isinstance(key, bytes) else key
        return {"k": f"{text}@{window['start']}", "n": int(window["value"])}

    return frame.apply(name, metadata=True)


WORKLOADS: dict[str, Callable[[Application, Job], Frame]] = {
    "W0": project,
    "W1": word_count,
    "W2": tumbling_sum,
    "W3": sliding_sum,
    "W4": stream_table_join,
    "W5": stream_stream_join,
    "W7": join_then_count,
    "sum": sum_per_key,
}

if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
