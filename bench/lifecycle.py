"""Start-up, recovery after `kill -9`, and the cost of doing nothing."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from bench.data import Dataset
from bench.drain import Key, Lab, Task
from bench.process import Program
from bench.systems import SYSTEMS, Job
from bench.workloads import WORKLOADS

_IDLE_SECONDS = 10.0
_CALM_SECONDS = 5.0
_TIMEOUT = 240.0


@dataclass
class Life:
    """One measurement: `start` and `recovery` in seconds, `idle` in cores."""

    measure: str
    system: str
    guarantee: str
    keys: int = 0
    run: int = 0
    error: str | None = None
    value: float = 0.0
    rss: int = 0

    @property
    def key(self) -> Key:
        """What tells it from every other measurement."""
        return ("life", self.measure, self.system, self.guarantee, self.keys, self.run)

    def as_json(self) -> dict[str, Any]:
        """All figures."""
        return asdict(self)


def start_up(lab: Lab, system: str, guarantee: str, run: int, keys: int) -> Life:
    """Seconds from the start of the process to the first result in the output topic."""
    result = Life("start", system, guarantee, keys, run)
    with _caught(result), _session(lab, system, guarantee, Dataset("events", keys, keys)) as session:
        program = session.start()
        while not lab.broker.committed_ends(session.job.output):
            session.still_running(program)
            time.sleep(0.02)
        result.value = time.monotonic() - program.started
    return result


def idle(lab: Lab, system: str, guarantee: str, run: int, keys: int) -> Life:
    """Cores in use while there is nothing to do."""
    result = Life("idle", system, guarantee, keys, run)
    with _caught(result), _session(lab, system, guarantee, Dataset("events", 10 * keys, keys)) as session:
        program = session.start()
        session.await_done(program, 10 * keys)
        time.sleep(_CALM_SECONDS)
        before = program.usage().cpu
        time.sleep(_IDLE_SECONDS)
        after = program.usage()
        result.value, result.rss = (after.cpu - before) / _IDLE_SECONDS, after.rss
    return result


def recovery(lab: Lab, system: str, guarantee: str, run: int, keys: int) -> Life:
    """Seconds from the restart after `kill -9` until records that came meanwhile are finished, and right."""
    result = Life("recovery", system, guarantee, keys, run)
    records, later = keys + keys // 4, 10_000
    everything = Dataset("turns", records + later, keys)
    with _caught(result), _session(lab, system, guarantee, None) as session:
        rows = everything.rows()
        lab.broker.produce(session.source, session.job.partitions, islice(rows, records))
        program = session.start()
        session.await_done(program, records)
        time.sleep(3)
        program.kill()
        lab.broker.produce(session.source, session.job.partitions, rows)
        program = session.start()
        session.await_done(program, records + later)
        result.value = time.monotonic() - program.started
        result.rss = program.usage().rss
        time.sleep(session.task.system.settle)
        session.stop()
        right = lab.right.of("sum", {"events": everything})
        if wrong := lab.check(session.task, session.job.output).difference(right):
            result.error = f"wrong answer: {wrong}"
    return result


class _Session:
    """A job on a topic of its own, and the programs started for it."""

    def __init__(self, lab: Lab, task: Task, job: Job, source: str) -> None:
        self.lab, self.task, self.job, self.source = lab, task, job, source
        self._program: Program | None = None

    def start(self) -> Program:
        """Start the program, again with the same state."""
        self._program = self.lab.start(self.task.system, self.job)
        return self._program

    def stop(self) -> None:
        """Stop what runs."""
        if self._program is not None:
            self._program.stop()

    def await_done(self, program: Program, records: int) -> None:
        """Wait until so many records are finished."""
        progress = self.lab.progress(self.task.system, self.job, ("events",))
        try:
            while progress.done() < records:
                self.still_running(program)
                time.sleep(0.1)
        finally:
            progress.close()

    def still_running(self, program: Program) -> None:
        """Raise if the program is gone or the time is over."""
        if not program.running:
            raise RuntimeError(f"the program ended by itself:\n{program.tail()}")
        if time.monotonic() - program.started > _TIMEOUT:
            raise TimeoutError(f"not done after {_TIMEOUT:.0f} s")


@contextmanager
def _session(lab: Lab, system: str, guarantee: str, data: Dataset | None) -> Iterator[_Session]:
    task = Task(WORKLOADS["sum"], SYSTEMS[system], guarantee, 1)
    name = f"life-{system}-{uuid.uuid4().hex[:8]}"
    source = f"{name}-in"
    lab.broker.create(source, task.partitions)
    if data is not None:
        lab.broker.produce(source, task.partitions, data.rows())
    session = _Session(lab, task, lab.job(task, name, {"events": source}), source)
    try:
        yield session
    finally:
        session.stop()
        lab.clean(name)


@contextmanager
def _caught(result: Life) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # noqa: BLE001 -- one system that fails must not lose the others' results
        result.error = f"{type(error).__name__}: {error}"


MEASURES: dict[str, Callable[[Lab, str, str, int, int], Life]] = {
    "start": start_up,
    "idle": idle,
    "recovery": recovery,
}
KEYS = {"start": 1_000, "idle": 1_000, "recovery": 1_000_000}
