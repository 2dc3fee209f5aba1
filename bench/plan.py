"""What a whole session measures, the most important first, within a budget of time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench import latency, lifecycle
from bench.drain import Lab, Result, Task
from bench.store import Store
from bench.systems import ALOS, EOS, SYSTEMS
from bench.workloads import WORKLOADS

PAIR = ("tidemill", "kstreams")
PEERS = ("pyspark", "quix", "bytewax", "pathway")
_PEER_SHARE = {"quix": 0.1, "bytewax": 0.25, "pathway": 0.5}
"""Slower systems get a smaller backlog: figures are per record."""


@dataclass(frozen=True)
class Step:
    """One measurement: a name to tell it by, and what takes it."""

    label: str
    take: Callable[[Lab, Store], str]


@dataclass(frozen=True)
class Session:
    """How much is measured."""

    scale: int
    runs: int
    steps: Callable[[Session], Iterator[Step]]
    budget: float | None = None

    def carry_out(self, lab: Lab, store: Store) -> None:
        """Take one measurement after the other; those the budget does not reach are named."""
        begun = time.monotonic()
        for step in self.steps(self):
            spent = time.monotonic() - begun
            if self.budget is not None and spent > self.budget:
                store.left_out.append(step.label)
                continue
            print(f"[{spent:5.0f} s] {step.label}: ", end="", file=sys.stderr, flush=True)
            try:
                lab.broker.revive()
                said = step.take(lab, store)
            except Exception as error:  # noqa: BLE001 -- the other measurements must not be lost
                said = f"{type(error).__name__}: {error}"
                store.broken.append(f"{step.label}: {said}")
            print(said, file=sys.stderr, flush=True)
            store.save()
        store.save()


def quick(session: Session) -> Iterator[Step]:
    """The shape of things in a few minutes."""
    for run in range(session.runs):
        for workload in ("W2", "W0", "W4"):
            for system in PAIR:
                yield backlog(session, workload, system, ALOS, run)
    for system in PAIR:
        yield backlog(session, "W1", system, ALOS, 0)


def standard(session: Session) -> Iterator[Step]:
    """Every workload beside Kafka Streams, then samples of the rest as far as the time goes."""
    for run in range(session.runs):
        yield from _pair(session, ALOS, run)
    for system in PEERS:
        for workload in ("W2", "W0"):
            yield backlog(session, workload, system, ALOS, 0)
    for name in ("tidemill-realtime", "kstreams-alos"):
        yield latency_step(latency.Wish(latency.SETUPS[name], "sum", 1_000))
    for run in range(session.runs):
        for system in PAIR:
            yield life_step(lifecycle.start_up, system, ALOS, run)
            yield backlog(session, "W2", system, EOS, run)


def everything(session: Session) -> Iterator[Step]:
    """All that the page shows."""
    for guarantee in (ALOS, EOS):
        for run in range(session.runs):
            yield from _pair(session, guarantee, run)
        if guarantee == ALOS:
            yield from _latencies(
                1_000, ("tidemill-realtime", "kstreams-alos", "tidemill-eos", "kstreams-eos")
            )
            yield from _lives(session)
    for run in range(session.runs):
        yield from _peers(session, run)
        for system in PAIR:
            yield backlog(session, "W4", system, ALOS, run, table_keys=1_000_000)
    yield from _latencies(1_000, ("tidemill-alos", "quix-alos"))
    yield from _latencies(10_000, ("tidemill-realtime", "kstreams-alos", "tidemill-eos", "kstreams-eos"))
    for run in range(session.runs):
        for system in PAIR:
            for keys in (100_000, 1_000_000):
                yield backlog(session, "W2", system, ALOS, run, keys=keys)
            for partitions in (1, 2, 8, 16):
                yield backlog(session, "W2", system, ALOS, run, partitions=partitions)


def backlog(
    session: Session,
    workload: str,
    name: str,
    guarantee: str,
    run: int,
    *,
    keys: int = 10_000,
    partitions: int = 4,
    table_keys: int | None = None,
) -> Step:
    """Drain a backlog of the session's size."""
    work = WORKLOADS[workload]
    records = int(session.scale * work.share * _PEER_SHARE.get(name, 1.0))
    return drain(Task(work, SYSTEMS[name], guarantee, records, keys, partitions, table_keys, run=run))


def drain(task: Task) -> Step:
    """Drain a backlog once."""

    def take(lab: Lab, store: Store) -> str:
        store.drains.append(lab.drain(task))
        return told(store.drains[-1])

    unusual = []
    if task.keys != 10_000:
        unusual.append(f"{task.keys:,} keys")
    if task.partitions != 4:
        unusual.append(f"{task.partitions} partitions")
    if task.table_keys is not None:
        unusual.append(f"{task.table_keys:,} rows")
    words = [task.workload.name, task.system.name, task.guarantee, *unusual, f"run {task.run + 1}"]
    return Step(" ".join(words), take)


def latency_step(wish: latency.Wish) -> Step:
    """Measure latency once."""

    def take(lab: Lab, store: Store) -> str:
        found = latency.measure(lab, wish)
        store.latencies.append(found)
        return found.error or f"p50 {found.p50:.1f}, p95 {found.p95:.1f}, p99 {found.p99:.1f} ms"

    return Step(f"latency of {wish.workload} at {wish.rate:,}/s, {wish.setup.label}", take)


def life_step(
    measure: Callable[[Lab, str, str, int], lifecycle.Life], system: str, guarantee: str, run: int
) -> Step:
    """Take one measure of a program's life."""

    def take(lab: Lab, store: Store) -> str:
        found = measure(lab, system, guarantee, run)
        store.lives.append(found)
        return found.error or f"{found.value:.2f}"

    return Step(f"{measure.__name__} {system} {guarantee}", take)


def told(result: Result) -> str:
    """A result in one line."""
    if result.error:
        return f"FAILED: {result.error}"
    if not result.steady_rate:
        return f"{result.total_rate:,.0f} records/s from the start; too few records for a steady state"
    return (
        f"{result.steady_rate:,.0f} records/s steady, {result.steady_cpu:.2f} CPU-s per million, "
        f"{result.total_rate:,.0f} records/s from the start"
    )


def _pair(session: Session, guarantee: str, run: int) -> Iterator[Step]:
    for workload in sorted(name for name in WORKLOADS if name.startswith("W")):
        for system in PAIR:
            yield backlog(session, workload, system, guarantee, run)


def _peers(session: Session, run: int) -> Iterator[Step]:
    for workload in sorted(name for name in WORKLOADS if name.startswith("W")):
        for system in PEERS:
            if SYSTEMS[system].can(workload, ALOS):
                yield backlog(session, workload, system, ALOS, run)


def _latencies(rate: int, setups: tuple[str, ...]) -> Iterator[Step]:
    for workload in ("W0", "sum"):
        for name in setups:
            yield latency_step(latency.Wish(latency.SETUPS[name], workload, rate))


def _lives(session: Session) -> Iterator[Step]:
    for run in range(session.runs):
        for system in PAIR:
            yield life_step(lifecycle.start_up, system, ALOS, run)
    for guarantee in (ALOS, EOS):
        for system in PAIR:
            yield life_step(lifecycle.recovery, system, guarantee, 0)
    for system in PAIR:
        yield life_step(lifecycle.idle, system, ALOS, 0)


SESSIONS = {
    "quick": Session(500_000, 2, quick, budget=200.0),
    "bench": Session(1_000_000, 2, standard, budget=840.0),
    "full": Session(2_000_000, 2, everything),
}
