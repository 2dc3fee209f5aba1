"""What the Python process of a program does meanwhile, sampled by py-spy."""

from __future__ import annotations

import re
import signal
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.broker import Broker
from bench.drain import WARM, Lab
from bench.peers_venv import peer_python
from bench.process import Program
from bench.progress import Progress
from bench.systems import Job, System

_RATE = 200
_PATTERNS = (
    ("py4j", r"py4j/"),
    ("PySpark", r"pyspark/"),
    ("Kafka client", r"confluent_kafka/"),
    ("tidemill", r"tidemill/"),
)


@dataclass(frozen=True)
class Seen:
    """Seconds in which a thread ran Python, by the innermost part of the program it was in.

    That is, held the interpreter's lock: a thread that waits for the JVM or for a clock has let go of it.
    """

    busy: Mapping[str, float]

    def told(self, seconds: float) -> str:
        """In percent of a core over so many seconds, and of what is busy."""
        total = sum(self.busy.values())
        if not total:
            return "no thread was ever busy"
        largest = sorted(self.busy.items(), key=lambda item: -item[1])
        shares = ", ".join(f"{name} {100 * spent / total:.0f} %" for name, spent in largest)
        return f"busy {100 * total / seconds:.1f} % of a core, of that {shares}"


class WatchedLab(Lab):
    """A lab that samples Python from the moment at which half of a backlog is finished, or from the start."""

    def __init__(self, broker: Broker, recording: Path, *, whole: bool) -> None:
        super().__init__(broker)
        recording.unlink(missing_ok=True)
        self._recording = recording
        self._whole = whole
        self._program: Program | None = None
        self._spy: subprocess.Popen[bytes] | None = None

    @property
    def pids(self) -> list[int]:
        """The sampler, which is no part of what is measured."""
        return [] if self._spy is None else [self._spy.pid]

    def start(self, system: System, job: Job) -> Program:
        """Start the program, and remember it."""
        self._program = super().start(system, job)
        return self._program

    def progress(self, system: System, job: Job, measured: tuple[str, ...]) -> Progress:
        """The progress of the program, at the right moment of which the sampler begins."""
        since = 0 if self._whole else WARM * job.records
        return _Noticed(super().progress(system, job, measured), self, since)

    def begin(self) -> None:
        """Sample from now on, until the program ends."""
        if self._spy is None and self._program is not None:
            spy = str(peer_python("py-spy").with_name("py-spy"))
            what = ["record", "--format", "raw", "--full-filenames", "--gil", "--rate", str(_RATE)]
            self._spy = subprocess.Popen(
                [spy, *what, "--output", str(self._recording), "--pid", str(self._program.pid)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )

    def end(self) -> None:
        """Write down what was sampled until now: a program that is being stopped is another matter."""
        if self._spy is not None:
            self._spy.send_signal(signal.SIGINT)

    def seen(self) -> Seen:
        """What was sampled, to be asked when the program has ended."""
        assert self._spy is not None, "the sampler was never started"
        _, said = self._spy.communicate(timeout=30)
        if not self._recording.exists():
            raise RuntimeError(f"py-spy wrote nothing: {said.decode(errors='replace').strip()}")
        return Seen(by_part(self._recording.read_text().splitlines()))


def by_part(stacks: Iterable[str]) -> dict[str, float]:
    """Busy seconds by part, of lines like `outer (file:line);inner (file:line) samples`."""
    parts: dict[str, float] = defaultdict(float)
    for line in stacks:
        frames, _, count = line.rpartition(" ")
        found = (group_of(frame, _PATTERNS) for frame in reversed(frames.split(";")))
        parts[next((part for part in found if part), "other")] += int(count) / _RATE
    return dict(parts)


def group_of(name: str, groups: Sequence[tuple[str, str]]) -> str | None:
    """The first group whose pattern is found in a name."""
    return next((group for group, pattern in groups if re.search(pattern, name)), None)


class _Noticed(Progress):
    """A progress that begins the sampling on its way, and ends it with the last record."""

    def __init__(self, inner: Progress, lab: WatchedLab, since: float) -> None:
        self._inner = inner
        self._lab = lab
        self._since = since

    def done(self) -> int:
        done = self._inner.done()
        if done >= self._since:
            self._lab.begin()
        return done

    def close(self) -> None:
        self._lab.end()
        self._inner.close()
