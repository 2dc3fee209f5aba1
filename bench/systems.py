"""The systems under measurement: what starts each of them, what it can do, and how it tells its progress."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import kstreams
from bench.peers_venv import peer_python
from tidemill.runtime.config import AppConfig

PROGRAMS = Path(__file__).parent / "programs"
_SMALL_BACKLOG = 10_000
ALOS = "at_least_once"
EOS = "exactly_once_v2"


@dataclass(frozen=True)
class Job:
    """Everything a program needs to know about one run; written to a file that it is given."""

    workload: str
    application_id: str
    bootstrap: str
    inputs: Mapping[str, str]
    output: str
    partitions: int
    threads: int
    guarantee: str
    state_dir: str
    progress_file: str
    latency: str = "throughput"
    records: int = 0
    port: int = 0
    """The first of as many free ports as there are threads."""
    settings: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """In the form the programs read."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class System:
    """A program that does the workloads. `form` is how it writes numbers: see Workload.reader."""

    name = ""
    title = ""
    form = "binary"
    commits_group = True
    """Whether its progress is a consumer group named by the application id; else it writes a file."""
    settle = 0.0
    """Seconds to wait after the last record counts as finished, for what is still on its way."""
    workloads: frozenset[str] = frozenset()
    guarantees: frozenset[str] = frozenset()

    def inner_topics(self, _: Job) -> str:
        """What is in the name of every repartition topic of a run; "" where there is none."""
        return ""

    def settings(self, _: int) -> Mapping[str, str]:
        """Settings for a backlog of so many records."""
        return {}

    def prepare(self) -> None:
        """Compile or install what is needed; raises with the reason if that fails."""

    def command(self, job_file: Path) -> list[str]:
        """What starts the program."""
        raise NotImplementedError

    def can(self, workload: str, guarantee: str) -> bool:
        """Whether it has what the work takes."""
        return workload in self.workloads and guarantee in self.guarantees


class Tidemill(System):
    """An app over the public API, with the settings of a user who sets none."""

    name = "tidemill"
    title = "Tidemill"
    workloads = frozenset({"W0", "W1", "W2", "W3", "W4", "W5", "W6", "W7", "sum"})
    guarantees = frozenset({ALOS, EOS})

    def settings(self, records: int) -> Mapping[str, str]:
        # Batches of a fifth of the backlog at most: there must be several to see a steady state.
        if records < _SMALL_BACKLOG:
            return {}
        usual = AppConfig(application_id="usual").max_offsets_per_trigger
        return {"max.offsets.per.trigger": str(min(usual or records, records // 5))}

    def command(self, job_file: Path) -> list[str]:
        return [sys.executable, str(PROGRAMS / "tidemill_app.py"), str(job_file)]


class KafkaStreams(System):
    """A Java program on Kafka Streams' own DSL."""

    name = "kstreams"
    title = "Kafka Streams"
    settle = 1.2  # a commit and a bit
    workloads = Tidemill.workloads
    guarantees = frozenset({ALOS, EOS})

    def inner_topics(self, job: Job) -> str:
        return f"{job.application_id}-by-" if job.workload in ("W1", "W7") else ""

    def prepare(self) -> None:
        kstreams.compile_sources()

    def command(self, job_file: Path) -> list[str]:
        return kstreams.command(job_file)


class PlainPySpark(System):
    """PySpark by hand: native operators, Spark's own sink, which knows no transactions."""

    name = "pyspark"
    title = "Plain PySpark"
    form = "text"
    commits_group = False
    workloads = Tidemill.workloads - {"W3"}
    guarantees = frozenset({ALOS})

    def command(self, job_file: Path) -> list[str]:
        return [sys.executable, str(PROGRAMS / "pyspark_app.py"), str(job_file)]


class Peer(System):
    """A Python library in a venv of its own."""

    form = "json"

    def prepare(self) -> None:
        peer_python(self.name)

    def command(self, job_file: Path) -> list[str]:
        return [str(peer_python(self.name)), str(PROGRAMS / f"{self.name}_app.py"), str(job_file)]


class Quix(Peer):
    """Quix Streams, a process per core."""

    name = "quix"
    title = "Quix Streams"
    settle = 1.2
    workloads = frozenset({"W0", "W1", "W2", "W3", "W4", "W5", "W7", "sum"})
    guarantees = frozenset({ALOS, EOS})

    def inner_topics(self, job: Job) -> str:
        return f"repartition__{job.application_id}--" if job.workload in ("W1", "W7") else ""


class Bytewax(Peer):
    """Bytewax, a process per core; it tells results of a window once, when it is closed."""

    name = "bytewax"
    title = "Bytewax"
    commits_group = False
    workloads = frozenset({"W0", "W1", "W2"})
    guarantees = frozenset({ALOS})


class Pathway(Peer):
    """Pathway, a thread per core; it sends every change with the moment it was made."""

    name = "pathway"
    title = "Pathway"
    settle = 3.0
    commits_group = False
    workloads = frozenset({"W0", "W1", "W2"})
    guarantees = frozenset({ALOS})


SYSTEMS: Mapping[str, System] = {
    system.name: system
    for system in (Tidemill(), KafkaStreams(), PlainPySpark(), Quix(), Bytewax(), Pathway())
}
