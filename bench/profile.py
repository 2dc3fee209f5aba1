"""Where Tidemill's processor time goes: `python -m bench.profile --workload W2,W4` prints a table.

Of the steady state, that is of the second half of a backlog, unless the whole run is asked for. Threads are
counted by the kernel, so that compilers and collectors are in it; what tasks do is sampled by Java Flight
Recorder, the Python process by py-spy. Needs the `jfr` tool of a JDK.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from bench.broker import Broker
from bench.drain import WARM, Task
from bench.paths import BUILD
from bench.process import threads_below
from bench.spy import WatchedLab, group_of
from bench.systems import ALOS, EOS, SYSTEMS
from bench.workloads import WORKLOADS

_LOOK_SECONDS = 0.2
_THREADS = (
    ("tasks", r"Executor task"),
    ("compilers", r"C[12] Comp|Sweeper"),
    ("collector", r"GC |G1 |VM (Thread|Periodic)"),
    ("planning", r"stream exec|dag-sched|dispatcher|spark-listen|task-result|Thread-|element-tr"),
    ("Kafka clients", r"kafka-|tidemill-claim"),
    ("RocksDB", r"rocksdb"),
)
_PARTS = (
    (
        "reading",
        r"org\.apache\.kafka\.clients\.consumer|io\.tidemill\.source|kafka\.common\.(record|compress)",
    ),
    ("decoding", r"io\.tidemill\.serde\.(PlainJson|JsonReader|Text|Numbers)|com\.fasterxml"),
    ("writing", r"io\.tidemill\.(sink|serde\.JsonWriter)|org\.apache\.kafka\.clients\.producer"),
    ("state", r"org\.rocksdb|streaming\.state\.|statevariables|io\.tidemill\.state"),
    ("shuffle", r"org\.apache\.spark\.(shuffle|storage|serializer|io)\.|BypassMerge"),
    ("steps", r"io\.tidemill\.(node|fold|task|row|problem|spark)\."),
    ("code generation", r"codegen\.|CodeGenerator|janino|encoders\."),
    ("rows", r"org\.apache\.spark\.(sql|unsafe)"),
)


@dataclass(frozen=True)
class Profile:
    """Shares of processor time: of all threads, and of what tasks do."""

    workload: str
    seconds: float
    threads: Mapping[str, float]
    parts: Mapping[str, float]
    python: str


@dataclass
class _Threads:
    """The processor time of every thread, as seen again and again."""

    seen: list[tuple[float, dict[tuple[int, int], tuple[str, float]]]] = field(default_factory=list)

    def look(self, left_out: Sequence[int]) -> None:
        before = self.seen[-1][1] if self.seen else {}
        self.seen.append((time.time(), {**before, **threads_below(left_out)}))

    def spent(self, since: float, until: float) -> Mapping[str, float]:
        """By groups, between two moments."""
        begin, end = (next(found for at, found in self.seen if at >= moment) for moment in (since, until))
        groups: dict[str, float] = defaultdict(float)
        for thread, (name, cpu) in end.items():
            groups[_group(name, _THREADS)] += cpu - begin.get(thread, (name, 0.0))[1]
        return groups


def take(broker: Broker, task: Task, folder: Path, *, whole: bool = False) -> Profile:
    """Drain a backlog once, with recorders."""
    lab = WatchedLab(broker, folder / f"{task.workload.name}.python.txt", whole=whole)
    recording = folder / f"{task.workload.name}.jfr"
    recording.unlink(missing_ok=True)
    options = (
        f"-XX:StartFlightRecording=filename={recording},settings=profile",
        # Else a sample is put down to whatever call comes next in the code.
        "-XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints",
    )
    with _watched(lab) as threads:
        result = lab.drain(replace(task, settings={"spark.driver.extraJavaOptions": " ".join(options)}))
    if result.error:
        raise SystemExit(f"{task.workload.name}: {result.error}")
    end = result.samples[-1]
    warm = next(sample.at for sample in result.samples if sample.done >= WARM * end.done)
    since, until = result.started + (0.0 if whole else warm), result.started + end.at
    spent = threads.spent(since, until)
    python = lab.seen().told(until - since)
    parts = _sampled(recording, since, until)
    return Profile(task.workload.name, sum(spent.values()), spent, parts, python)


def as_table(profiles: Sequence[Profile]) -> str:
    """A row for each workload, in percent."""
    threads = [name for name, _ in _THREADS] + ["other"]
    parts = [name for name, _ in _PARTS] + ["other"]
    head = ["workload", "CPU-s", *threads, *(f"task: {name}" for name in parts)]
    lines = [head, ["---"] * len(head)]
    for profile in profiles:
        shares = [_percent(profile.threads, name) for name in threads]
        lines.append(
            [
                profile.workload,
                f"{profile.seconds:.0f}",
                *shares,
                *(_percent(profile.parts, name) for name in parts),
            ]
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


@contextmanager
def _watched(lab: WatchedLab) -> Iterator[_Threads]:
    """The threads of programs that run meanwhile."""
    threads = _Threads()
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            threads.look([*lab.broker.pids, *lab.pids])

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield threads
    finally:
        over.set()
        watcher.join()


def _sampled(recording: Path, since: float, until: float) -> Mapping[str, float]:
    command = ["jfr", "print", "--events", "jdk.ExecutionSample", "--stack-depth", "40", str(recording)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    begin, end = (f"{datetime.fromtimestamp(moment):%H:%M:%S.%f}" for moment in (since, until))
    parts: dict[str, float] = defaultdict(float)
    for event in text.split("jdk.ExecutionSample {")[1:]:
        if 'sampledThread = "Executor task' in event and begin <= _time(event) <= end:
            frames = event.partition("stackTrace = [")[2].splitlines()
            found = (_group(frame, _PARTS) for frame in frames if "line:" in frame)
            parts[next((part for part in found if part != "other"), "other")] += 1
    return parts


def _time(event: str) -> str:
    """The time of day at which a sample was taken."""
    found = re.search(r"startTime = ([\d:.]+)", event)
    assert found is not None, "a sample without a time"
    return found[1]


def _group(name: str, groups: Sequence[tuple[str, str]]) -> str:
    return group_of(name, groups) or "other"


def _percent(shares: Mapping[str, float], name: str) -> str:
    total = sum(shares.values())
    return f"{100 * shares.get(name, 0) / total:.0f}" if total else "-"


def main() -> None:
    """Profile each workload."""
    parser = argparse.ArgumentParser(prog="python -m bench.profile", description=__doc__)
    parser.add_argument("--workload", default=",".join(sorted(n for n in WORKLOADS if n.startswith("W"))))
    parser.add_argument(
        "--scale",
        type=int,
        default=1_000_000,
        help="records at a share of 1",
    )
    parser.add_argument("--eos", action="store_true")
    parser.add_argument("--whole", action="store_true", help="the run from its start")
    options = parser.parse_args()
    folder = BUILD / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    profiles = []
    with Broker(BUILD / "broker") as broker:
        for name in options.workload.split(","):
            work = WORKLOADS[name]
            records = int(options.scale * work.share)
            task = Task(work, SYSTEMS["tidemill"], EOS if options.eos else ALOS, records)
            profiles.append(take(broker, task, folder, whole=options.whole))
            print(name, file=sys.stderr, flush=True)
    print(as_table(profiles))
    print("\nThe Python process:")
    for profile in profiles:
        print(f"- {profile.workload}: {profile.python}")


if __name__ == "__main__":
    main()
