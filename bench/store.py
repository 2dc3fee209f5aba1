"""The figures of a session, written after every measurement so that none is lost."""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.drain import Result
from bench.latency import Latency
from bench.lifecycle import Life
from tidemill import __version__


@dataclass
class Store:
    """Everything that was measured, and where and how."""

    file: Path
    command: str = ""
    drains: list[Result] = field(default_factory=list)
    latencies: list[Latency] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Measurements that could not even be begun, and why."""
    about: dict[str, str] = field(default_factory=lambda: machine())

    def save(self) -> None:
        """Write the file whole, or not at all."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.file.with_suffix(".tmp")
        unfinished.write_text(json.dumps(self.as_json(), indent=1) + "\n")
        unfinished.replace(self.file)

    def as_json(self) -> dict[str, Any]:
        """In the form of the file."""
        return {
            "about": self.about,
            "command": self.command,
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
            Result(**{key: value for key, value in row.items() if key not in ("samples", "per_cpu_second")})
            for row in found["drains"]
        ]
        return cls(
            file,
            found["command"],
            drains,
            [Latency(**row) for row in found["latencies"]],
            [Life(**row) for row in found["lives"]],
            found["left_out"],
            found["broken"],
            found["about"],
        )

    @property
    def errors(self) -> list[str]:
        """What failed."""
        return [
            *(
                f"{run.workload} {run.guarantee} {run.system}: {run.error}"
                for run in self.drains
                if run.error
            ),
            *(f"latency {run.workload} {run.setup}: {run.error}" for run in self.latencies if run.error),
            *self.broken,
            *(f"{run.measure} {run.guarantee} {run.system}: {run.error}" for run in self.lives if run.error),
        ]


def machine() -> dict[str, str]:
    """What the figures were taken on."""
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "tidemill": __version__,
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
