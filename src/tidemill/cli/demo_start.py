"""Starts the demo: a Kafka and a Spark beside each other, topics, records, and the example between them."""

from __future__ import annotations

import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tidemill.cli.demo_check import RollingSumCheck
from tidemill.cli.demo_examples import Example, feeds
from tidemill.cli.demo_feed import Feed
from tidemill.cli.demo_results import Results, Row
from tidemill.cli.demo_steps import Steps
from tidemill.cli.demo_view import View
from tidemill.datagen.write import ensure_topics
from tidemill.kafka.embedded import Cluster
from tidemill.kafka.jars import fetch
from tidemill.kafka.records import Format
from tidemill.kafka.settings import Settings
from tidemill.runtime import App

if TYPE_CHECKING:
    from tidemill.serde.base import Serde
    from tidemill.topology import Topology

_ROLLING_MS = 10_000
"""The length of the example's window."""
_PARTITIONS = 2


@dataclass
class Running:
    """The parts of a demo."""

    app: App
    feed: Feed
    results: Results
    view: View
    check: RollingSumCheck | None

    def refresh(self) -> None:
        """Bring the figures up to date."""
        self.view.update(self.app.metrics(), len(self.feed.sent), self.results.count)

    def take(self, row: Row) -> None:
        """A result has come."""
        if self.check is not None:
            self.check.take(row)
        if row.is_latest:
            self.view.take(row)


@dataclass
class _Fed:
    """A broker whose topics are being filled."""

    settings: Settings
    feed: Feed
    at: float


def start(steps: Steps, cleanup: ExitStack, chosen: Example, rate: float | None) -> Running:
    """Everything up to the first batch; `cleanup` undoes it in the reverse order."""
    from tidemill.engine.session import spark_session

    with steps("Jars of Kafka and Spark"):
        fetch(["kafka-broker", "spark-kafka"])
    folder = tempfile.mkdtemp(prefix="tidemill-demo-")
    cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
    kafka = Cluster(name="demo")
    cleanup.callback(kafka.stop)
    # Two programs that mostly wait for one core each: beside each other they take half the time.
    aside = ThreadPoolExecutor(1, thread_name_prefix="demo-kafka")
    cleanup.callback(aside.shutdown)
    began = time.monotonic()
    up = aside.submit(kafka.start)
    topology, settings = chosen.load()
    fed = aside.submit(_fed, kafka, topology, rate, cleanup)
    with steps("Spark"):
        spark = spark_session(
            name="demo",
            conf={
                "spark.sql.streaming.checkpointLocation": folder,
                # A short life: quick code is worth more than the quickest.
                "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
            },
            log_file=Path(folder) / "spark.log",
        )
    with steps("Kafka, topics and records") as say:
        up.result()
        source = fed.result()
        say(f"{kafka.bootstrap_servers}, {source.at - began:.1f} s beside Spark")
    results = Results(source.settings, topology)
    cleanup.callback(results.close)
    with steps("Pipeline"):
        app = App(
            f"demo-{chosen.name}",
            topology,
            bootstrap_servers=kafka.bootstrap_servers,
            state_dir=folder,
            tasks=_PARTITIONS,
            spark=spark,
            config=settings,
        )
        app.start()
        cleanup.callback(app.stop)
    with steps("First batch"):
        while not steps.asked.is_set() and not app.metrics()["batches"]:
            if app.error is not None:
                raise app.error
            time.sleep(0.05)
    title = f"{chosen.name}: {chosen.title.partition(': ')[2] or chosen.title}"
    view = View(title, kafka.bootstrap_servers, topology, _commands(kafka.bootstrap_servers, app))
    check = RollingSumCheck(_ROLLING_MS) if chosen.name == "rolling-sum" else None
    return Running(app, source.feed, results, view, check)


def _fed(kafka: Cluster, topology: Topology, rate: float | None, cleanup: ExitStack) -> _Fed:
    """Create the topics, fill the tables and begin to write."""
    settings: Settings = Settings.of(kafka.client_config())
    schemas = feeds(topology, rate)
    tables = {topic for node in topology.sources if hasattr(node, "store") for topic in node.topics}
    topics = dict.fromkeys([*(schema.topic for schema in schemas), *topology.sink_topics])
    ensure_topics(settings, topics, partitions=_PARTITIONS)
    feed = Feed(settings, schemas, tables)
    cleanup.callback(feed.stop)
    feed.fill_tables()
    feed.start()
    return _Fed(settings, feed, time.monotonic())


def _commands(server: str, app: App) -> list[str]:
    """What one may look at from outside, for this app and this broker."""
    source = app.topology.source_topics[0]
    reading = next(node for node in app.topology.sources if source in node.topics)
    writing = next(sink for sink in app.topology.sinks if sink.topic is not None)
    return [
        f"tidemill topics list -b {server}",
        f"tidemill consume {source} -b {server}{_formats(reading.key, reading.value)}",
        f"tidemill consume {writing.topic} -b {server}{_formats(writing.key, writing.value)}",
        f"tidemill groups describe {app.application_id} -b {server}",
        f"tidemill datagen {source.rpartition('-')[2]} --topic {source} --rate 100 -b {server}",
    ]


def _formats(key: Serde | None, value: Serde | None) -> str:
    """The options of `consume` that show these serdes as people write them."""
    known = {"time-windowed": "windowed", "session-windowed": "session"}
    words = []
    for option, serde in (("--key-format", key), ("--value-format", value)):
        name = "" if serde is None else known.get(serde.name, serde.name)
        if name in set(Format) - {Format.string}:
            words.append(f" {option} {name}")
    return "".join(words)
