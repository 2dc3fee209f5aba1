"""The figures of a session, written after every measurement so that none is lost."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.drain import Key, Result, Sample
from bench.latency import Latency
from bench.lifecycle import Life
from bench.paths import ROOT
from tidemill import __version__
from tidemill.engine.archive import use_options

Measurement = Result | Latency | Life


@dataclass
class Store:
    """Everything that was measured, and where and how."""

    file: Path
    drains: list[Result] = field(default_factory=list)
    latencies: list[Latency] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Measurements that could not even be begun, and why."""
    pieces: list[dict[str, str]] = field(default_factory=list)
    """When, where and by which command; several if a session was taken up again."""

    @classmethod
    def begin(cls, file: Path, command: str, *, resume: bool = False) -> Store:
        """A store for a session, with what the file has if it is resumed; else the file is set aside."""
        store = cls(file)
        if resume and file.exists():
            store = cls.load(file)
        elif file.exists():
            written = time.strftime("%Y%m%d-%H%M%S", time.gmtime(file.stat().st_mtime))
            file.replace(file.with_suffix(f".{written}.json"))
        store.pieces.append({"command": command, **machine()})
        return store

    def add(self, found: Measurement) -> None:
        """Keep a measurement, in place of one that it repeats."""
        kept = self._like(found)
        kept[:] = [old for old in kept if old.key != found.key]
        kept.append(found)

    def has(self, key: Key, *, failed: bool = True) -> bool:
        """Whether a measurement is there; one that failed counts unless `failed` is false."""
        return any(run.key == key and (failed or run.error is None) for run in self.measurements)

    @property
    def measurements(self) -> list[Measurement]:
        """All of them."""
        return [*self.drains, *self.latencies, *self.lives]

    def _like(self, found: Measurement) -> list[Any]:
        if isinstance(found, Result):
            return self.drains
        return self.latencies if isinstance(found, Latency) else self.lives

    def merge(self, later: Store) -> None:
        """Take in another session; where both have measured the same, the later one counts."""
        for found in later.measurements:
            self.add(found)
        self.pieces += later.pieces
        self.broken += later.broken
        self.left_out += later.left_out

    def save(self) -> None:
        """Write the file whole, or not at all."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.file.with_suffix(".tmp")
        unfinished.write_text(json.dumps(self.as_json(), indent=1) + "\n")
        unfinished.replace(self.file)

    def as_json(self) -> dict[str, Any]:
        """In the form of the file."""
        return {
            "pieces": self.pieces,
            "drains": [result.as_json() for result in self.drains],
            "latencies": [result.as_json() for result in self.latencies],
            "lives": [result.as_json() for result in self.lives],
            "left_out": self.left_out,
            "broken": self.broken,
        }

    @classmethod
    def load(cls, file: Path) -> Store:
        """Read a file that `save` has written."""
        found = json.loads(file.read_text())
        drains = [
            Result(
                **{key: value for key, value in row.items() if key not in ("samples", "per_cpu_second")},
                samples=[Sample(at, done, cpu, 0, 0.0) for at, done, cpu in row["samples"]],
            )
            for row in found["drains"]
        ]
        return cls(
            file,
            drains,
            [Latency(**row) for row in found["latencies"]],
            [Life(**row) for row in found["lives"]],
            found["left_out"],
            found["broken"],
            found["pieces"],
        )

    @property
    def errors(self) -> list[str]:
        """What failed."""
        return [*(f"{_label(run)}: {run.error}" for run in self.measurements if run.error), *self.broken]

    @property
    def failed(self) -> bool:
        """Whether Tidemill or Kafka Streams failed; what the other peers cannot do is only told."""
        pair = ("tidemill", "kstreams")
        return any(run.error for run in self.measurements if _system(run).startswith(pair)) or any(
            name in broken for broken in self.broken for name in pair
        )


def _system(run: Measurement) -> str:
    return run.setup if isinstance(run, Latency) else run.system


def _label(run: Measurement) -> str:
    if isinstance(run, Latency):
        return f"latency {run.workload} {run.setup}"
    return f"{run.workload if isinstance(run, Result) else run.measure} {run.guarantee} {run.system}"


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "tidemill": f"{__version__} {_commit()}".strip(),
        "archive": "with" if use_options() else "without",
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except OSError:
        return ""
    return f"({done.stdout.strip()})" if done.returncode == 0 else ""
