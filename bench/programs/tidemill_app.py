"""The workloads as a Tidemill app: started with the path of a job file, ended by a signal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, serdes, windows
from tidemill.dsl import KStream, KTable

EVENT = serdes.json("id long, user string, amount long")
PERSON = serdes.json("name string, city string")
WINDOWED = serdes.time_windowed(serdes.string, "10 seconds")


def project(builder: StreamsBuilder, inputs: Mapping[str, str], output: str) -> None:
    """W0."""
    (
        _events(builder, inputs["events"])
        .filter(lambda event: event.amount >= 500)
        .map_values(lambda event: F.struct(event.id, event.user, (event.amount * 3).alias("total")))
        .to(output, value=serdes.json("id long, user string, total long"))
    )


def word_count(builder: StreamsBuilder, inputs: Mapping[str, str], output: str) -> None:
    """W1."""
    (
        builder.stream(inputs["lines"], key=serdes.string, value=serdes.string)
        .flat_map_values(lambda line: F.split(line, " "))
        .group_by(lambda _, word: word, key=serdes.string, name="by-word")
        .count(store="counts")
        .to_stream()
        .to(output, key=serdes.string, value=serdes.long)
    )


def tumbling_sum(builder: StreamsBuilder, inputs: Mapping[str, str], output: str) -> None:
    """W2."""
    (
        _events(builder, inputs["events"])
        .map_values(lambda event: event.amount)
        .group_by_key()
        .windowed_by(windows.tumbling("10 seconds", grace="5 seconds"))
        .reduce(lambda total, amount: total + amount, store="sums")
        .to_stream()
        .to(output, key=WINDOWED, value=serdes.long)
    )


def sliding_sum(builder: StreamsBuilder, inputs: Mapping[str, str], output: str) -> None:
    """W3."""
    (
        _events(builder, inputs["events"])
        .map_values(lambda event: event.amount)
        .group_by_key()
        .windowed_by(windows.sliding("10 seconds", grace="5 seconds"))
        .reduce(lambda total, amount: total + amount, store="sums")
        .to_stream()
        .to(output, key=WINDOWED, value=serdes.long)
    )


def stream_table_join(builder: StreamsBuilder, inputs: Mapping[str, str], output: str) -> None:
    """W4."""
    _located(builder, inputs).to(output, value=serdes.json("id long, amount long, city string"))


def stream_stream_join(builder: StreamsBuilder, inputs: Mapping[str, str], output: str) -> None:
    """W5."""
    left, right = (_events(builder, inputs[side]) for side in ("left", "right"))
    left.join(right, _pair, windows.join("5 seconds", grace="5 seconds")).to(
        output, value=serdes.json("left long, right long")
    )


def table_table_join(builder: StreamsBuilder, inputs: Mapping[str, str], output: str) -> None:
    """W6."""
    left, right = (_table(builder, inputs[side], EVENT) for side in ("left", "right"))
    left.join(right, _pair, store="pairs").to_stream().to(output, value=serdes.json("left long, right long"))


def join_then_count(builder: StreamsBuilder, inputs: Mapping[str, str], output: str) -> None:
    """W7."""
    (
        _located(builder, inputs)
        .group_by(lambda _, event: event.city, key=serdes.string, name="by-city")
        .windowed_by(windows.tumbling("10 seconds", grace="1 hour"))
        .count(store="per-city")
        .to_stream()
        .to(output, key=WINDOWED, value=serdes.long)
    )


def sum_per_key(builder: StreamsBuilder, inputs: Mapping[str, str], output: str) -> None:
    """The sum of each key, without windows: for latency, recovery and idle cost."""
    (
        _events(builder, inputs["events"])
        .map_values(lambda event: event.amount)
        .group_by_key()
        .reduce(lambda total, amount: total + amount, store="sums")
        .to_stream()
        .to(output, value=serdes.long)
    )


def main(job: dict[str, Any]) -> None:
    """Run one job until a signal comes."""
    builder = StreamsBuilder()
    WORKLOADS[job["workload"]](builder, job["inputs"], job["output"])
    config = {
        "state.dir": job["state_dir"],
        "latency": job["latency"],
        "processing.guarantee": job["guarantee"],
        **job["settings"],
    }
    App(job["application_id"], builder, bootstrap_servers=job["bootstrap"], config=config).run()


def _events(builder: StreamsBuilder, topic: str) -> KStream:
    return builder.stream(topic, key=serdes.string, value=EVENT)


def _table(builder: StreamsBuilder, topic: str, value: Any) -> KTable:
    return builder.table(topic, key=serdes.string, value=value)


def _located(builder: StreamsBuilder, inputs: Mapping[str, str]) -> KStream:
    people = _table(builder, inputs["table"], PERSON)
    return _events(builder, inputs["events"]).join(
        people, lambda event, person: F.struct(event.id, event.amount, person.city)
    )


def _pair(left: Any, right: Any) -> Any:
    return F.struct(left.id.alias("left"), right.id.alias("right"))


WORKLOADS: dict[str, Callable[[StreamsBuilder, Mapping[str, str], str], None]] = {
    "W0": project,
    "W1": word_count,
    "W2": tumbling_sum,
    "W3": sliding_sum,
    "W4": stream_table_join,
    "W5": stream_stream_join,
    "W6": table_table_join,
    "W7": join_then_count,
    "sum": sum_per_key,
}

if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
