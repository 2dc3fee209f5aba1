"""What a class archive records: an app on its whole way from topic to topic, and a test's in memory."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tidemill import StreamsBuilder, serdes, windows
from tidemill.engine.archive import recorded_session, run_in_memory
from tidemill.kafka.admin import Admin
from tidemill.kafka.embedded import Cluster
from tidemill.kafka.records import Record
from tidemill.kafka.settings import Settings
from tidemill.kafka.writer import Writer
from tidemill.runtime.app import App

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS = 60.0


def rehearse(target: Path) -> None:
    """Run what apps and tests run, so that the archive in `target` has their classes."""
    with recorded_session(target) as spark:
        run_in_memory(spark)
        with Cluster() as kafka:
            _run_an_app(spark, kafka.bootstrap_servers)


def _run_an_app(spark: SparkSession, address: str) -> None:
    settings = Settings.of({"bootstrap.servers": address})
    Admin(settings).create("numbers", partitions=1)
    value = json.dumps({"name": "tide", "n": 1}).encode()
    Writer(settings, "numbers").write_all(Record(value, b"key") for _ in range(10))
    with tempfile.TemporaryDirectory(prefix="tidemill-archive-") as folder:
        app = App("rehearsal", _topology(), bootstrap_servers=address, state_dir=folder, spark=spark)
        with app:
            end = time.monotonic() + _SECONDS
            while not app.metrics()["batches"] and app.error is None and time.monotonic() < end:
                time.sleep(0.05)


def _topology() -> StreamsBuilder:
    builder = StreamsBuilder()
    number = serdes.json("name string, n long")
    numbers = builder.stream("numbers", key=serdes.string, value=number).filter(lambda value: value.n > 0)
    numbers.to("copies", value=number)
    (
        numbers.map_values(lambda value: value.n)
        .group_by_key()
        .windowed_by(windows.tumbling("10 seconds"))
        .reduce(lambda total, n: total + n, store="sums")
        .to_stream()
        .to("sums", key=serdes.time_windowed(serdes.string, "10 seconds"), value=serdes.long)
    )
    return builder


if __name__ == "__main__":
    rehearse(Path(sys.argv[1]))
