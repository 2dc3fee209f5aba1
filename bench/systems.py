"""The systems under measurement: what starts each of them, what it can do, and how it tells its progress."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import kstreams

PROGRAMS = Path(__file__).parent / "programs"
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
    workloads: frozenset[str] = frozenset()
    guarantees: frozenset[str] = frozenset()

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

    def command(self, job_file: Path) -> list[str]:
        return [sys.executable, str(PROGRAMS / "tidemill_app.py"), str(job_file)]


class KafkaStreams(System):
    """A Java program on Kafka Streams' own DSL."""

    name = "kstreams"
    title = "Kafka Streams"
    workloads = Tidemill.workloads
    guarantees = frozenset({ALOS, EOS})

    def prepare(self) -> None:
        kstreams.compile_sources()

    def command(self, job_file: Path) -> list[str]:
        return kstreams.command(job_file)


SYSTEMS: Mapping[str, System] = {system.name: system for system in (Tidemill(), KafkaStreams())}
