"""Draining a backlog: one program, one run, from its start to the last record, with the answer checked."""

from __future__ import annotations

import json
import os
import shutil
import socket
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.answers import Output, RightAnswers, given
from bench.broker import Broker
from bench.paths import BUILD
from bench.process import Program, end_of, usage
from bench.progress import FileProgress, GroupProgress, Progress
from bench.reference import Answer, Inputs
from bench.systems import Job, System
from bench.workloads import Workload

_LOOK_SECONDS = 0.1
_STILL_SECONDS = 100.0
"""How long a program may finish nothing at all: longer than it takes to start, or to lose a member."""
_LEAST_SECONDS = 1.5
Key = tuple[str | int | None, ...]
WARM = 0.5
"""The part of the backlog that warms a system up; what comes after it is steady state."""


@dataclass(frozen=True)
class Sample:
    """One look at a running program; `at` is seconds since its start."""

    at: float
    done: int
    cpu: float
    rss: int
    broker_cpu: float


@dataclass
class Result:
    """One run. A run with an `error` has no figures that count."""

    system: str
    workload: str
    guarantee: str
    records: int
    keys: int
    partitions: int
    run: int = 0
    table_keys: int | None = None
    error: str | None = None
    steady_rate: float = 0.0
    """Records a second after the warm-up."""
    steady_cpu: float = 0.0
    """Processor seconds of the program per million records after the warm-up."""
    total_rate: float = 0.0
    """Records a second from the start of the process."""
    total_cpu: float = 0.0
    broker_cpu: float = 0.0
    """Processor seconds of the broker per million records, from the start."""
    first_progress: float = 0.0
    """Seconds from the start of the process until first records are reported as finished."""
    peak_rss: int = 0
    started: float = 0.0
    """When the process was started, in seconds since the epoch."""
    samples: list[Sample] = field(default_factory=list, repr=False)

    @property
    def key(self) -> Key:
        """What tells it from every other measurement."""
        task = (self.workload, self.system, self.guarantee, self.records)
        return ("drain", *task, self.keys, self.partitions, self.table_keys, self.run)

    @property
    def rows(self) -> int:
        """Rows of a table that is joined with: one for each key, unless said otherwise."""
        return self.table_keys or self.keys

    @property
    def per_cpu_second(self) -> float:
        """Records per processor second in steady state."""
        return 1e6 / self.steady_cpu if self.steady_cpu else 0.0

    def as_json(self) -> dict[str, Any]:
        """All figures; of the samples only those where something was finished."""
        figures = asdict(self)
        steps, last = [], -1
        for sample in self.samples:
            if sample.done != last:
                last = sample.done
                steps.append([round(sample.at, 2), sample.done, round(sample.cpu, 2)])
        return {**figures, "samples": steps, "per_cpu_second": self.per_cpu_second}


@dataclass(frozen=True)
class Task:
    """What to run."""

    workload: Workload
    system: System
    guarantee: str
    records: int
    keys: int = 10_000
    partitions: int = 4
    table_keys: int | None = None
    timeout: float = 180.0
    settings: Mapping[str, str] = field(default_factory=dict)
    run: int = 0

    @property
    def inputs(self) -> Inputs:
        """The datasets."""
        return self.workload.inputs(self.records, self.keys, self.table_keys)

    def blank(self) -> Result:
        """A result that has no figures yet."""
        return Result(
            self.system.name,
            self.workload.name,
            self.guarantee,
            self.records,
            self.keys,
            self.partitions,
            self.run,
            self.table_keys,
        )


class Lab:
    """A broker and the right answers, kept over many runs."""

    def __init__(self, broker: Broker, folder: Path = BUILD) -> None:
        self.broker = broker
        self._folder = folder
        self.right = RightAnswers(folder / "answers")

    def tidy(self) -> None:
        """Remove what a session that was killed has left: programs, their topics and files."""
        end_of(self._folder / "runs")
        self.broker.keep_inputs()
        shutil.rmtree(self._folder / "runs", ignore_errors=True)

    def drain(self, task: Task) -> Result:
        """Run a task; what goes wrong is in the result."""
        result = task.blank()
        name = f"{task.system.name}-{task.workload.name}-{uuid.uuid4().hex[:8]}".lower()
        try:
            job = self.job(task, name)
            right = self.answer(task)
            result.started = time.time()
            program = self.start(task.system, job)
            try:
                result.samples = self._watch(task, job, program)
            finally:
                program.stop()
            summarise(result)
            if wrong := self.check(task, job.output).difference(right):
                result.error = f"wrong answer: {wrong}"
        except Exception as error:  # noqa: BLE001 -- one system that fails must not lose the others' results
            result.error = f"{type(error).__name__}: {error}"
        finally:
            self.clean(name)
        return result

    def job(
        self,
        task: Task,
        name: str,
        topics: Mapping[str, str] | None = None,
        *,
        mode: str = "throughput",
    ) -> Job:
        """Make the topics a task needs, unless they are given, and say what its program has to know."""
        task.system.prepare()
        topics = topics or {
            role: self.broker.ensure(data, task.partitions) for role, data in sorted(task.inputs.items())
        }
        records = sum(task.inputs[role].records for role in task.workload.measured)
        output = f"{name}-out"
        self.broker.create(output, task.partitions)
        folder = self._folder / "runs" / name
        folder.mkdir(parents=True)
        return Job(
            workload=task.workload.name,
            application_id=name,
            bootstrap=self.broker.address,
            inputs=topics,
            output=output,
            partitions=task.partitions,
            threads=os.cpu_count() or 2,
            guarantee=task.guarantee,
            latency=mode,
            state_dir=str(folder / "state"),
            progress_file=str(folder / "progress"),
            port=_free_ports(),
            records=records,
            settings={**task.system.settings(records), **task.settings},
        )

    def start(self, system: System, job: Job) -> Program:
        """Start the program of a job."""
        folder = self._folder / "runs" / job.application_id
        job_file = folder / "job.json"
        job_file.write_text(json.dumps(job.as_json()))
        return Program(system.command(job_file), self._folder / "logs" / f"{job.application_id}.log")

    def answer(self, task: Task) -> Answer:
        """The right answer."""
        return self.right.of(task.workload.name, task.inputs)

    def check(self, task: Task, output: str) -> Answer:
        """What a system has answered."""
        size = sum(self.broker.ends(output).values())
        work = task.workload.name
        return given(Output(self.broker.address, output, task.partitions, work, task.system.form, size))

    def clean(self, name: str) -> None:
        """Remove the topics and files of a run; its log stays. What cannot be removed does no harm."""
        with suppress(Exception):
            self.broker.sweep(name)
        shutil.rmtree(self._folder / "runs" / name, ignore_errors=True)

    def progress(self, system: System, job: Job, measured: tuple[str, ...]) -> Progress:
        """How far a program says it is."""
        if not system.commits_group:
            return FileProgress(Path(job.progress_file), job.records)
        topics = [job.inputs[role] for role in measured]
        inner = system.inner_topics(job)
        return GroupProgress(self.broker, job.application_id, topics, job.partitions, inner)

    def _watch(self, task: Task, job: Job, program: Program) -> list[Sample]:
        samples: list[Sample] = []
        moved = (0, 0.0)
        pids = self.broker.pids
        before = usage(pids).cpu
        progress = self.progress(task.system, job, task.workload.measured)
        try:
            while True:
                done = progress.done()
                used = program.usage()
                at = time.monotonic() - program.started
                samples.append(Sample(at, done, used.cpu, used.rss, usage(pids).cpu - before))
                if done >= job.records:
                    time.sleep(task.system.settle)
                    return samples
                if not program.running and progress.done() < job.records:
                    raise RuntimeError(f"the program ended by itself:\n{program.tail()}")
                if done > moved[0]:
                    moved = (done, at)
                if at > task.timeout or at > moved[1] + _STILL_SECONDS:
                    raise TimeoutError(f"{done:,} of {job.records:,} records after {at:.0f} s")
                time.sleep(_LOOK_SECONDS)
        finally:
            progress.close()


def _free_ports() -> int:
    """The first of a few neighbouring ports that nobody uses now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = int(found.getsockname()[1])
    return port if port < 65_000 else port - 1_000


def summarise(result: Result) -> None:
    """Work the figures out of the samples."""
    samples = result.samples
    end = samples[-1]
    start = next(sample for sample in samples if sample.done >= WARM * end.done)
    first = next(sample for sample in samples if sample.done > 0)
    result.first_progress = first.at
    result.peak_rss = max(sample.rss for sample in samples)
    result.total_rate = end.done / end.at
    result.total_cpu = end.cpu / end.done * 1e6
    result.broker_cpu = end.broker_cpu / end.done * 1e6
    # One step over most of the backlog, or steps in less time than is between two commits, say nothing about
    # the pace: more records are needed.
    if start.done <= 0.8 * end.done and end.at - start.at >= _LEAST_SECONDS:
        finished = end.done - start.done
        result.steady_rate = finished / (end.at - start.at)
        result.steady_cpu = (end.cpu - start.cpu) / finished * 1e6
