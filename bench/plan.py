"""What a whole session measures, the most important first, within a budget of time."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from bench import latency, lifecycle
from bench.drain import Key, Lab, Result, Task
from bench.store import Store
from bench.systems import ALOS, EOS, SYSTEMS
from bench.workloads import WORKLOADS

PAIR = ("tidemill", "kstreams")
PEERS = ("pyspark", "quix", "bytewax", "pathway")
_PEER_SHARE = {"pyspark": 0.6, "quix": 0.06, "bytewax": 0.12, "pathway": 0.25}
"""Slower systems get a smaller backlog: figures are per record."""
_OWN_SHARE = {
    ("quix", "W1"): 0.6,
    ("quix", "W3"): 0.5,
    ("bytewax", "W1"): 3.0,
    ("pathway", "W1"): 4.0,
}
"""How much of that a system gets for work it is slower or quicker at than at the rest."""
_PEER_SECONDS = 150.0
"""How long a run of a peer may take: one that hangs must not cost the others their time."""
_PAIR_SECONDS = 300.0
_QUICK = {"W2": 0.6, "W4": 1.0, "W0": 1.5}
"""What the quick session takes, and how much of each: enough for seconds of steady state."""
BOTH_MODES = ("tidemill-realtime", "kstreams-alos", "tidemill-eos", "kstreams-eos")
_ALL = tuple(sorted(name for name in WORKLOADS if name.startswith("W")))


@dataclass(frozen=True)
class Step:
    """One measurement: a name to tell it by, what it is found again by, and what takes it."""

    label: str
    key: Key
    take: Callable[[Lab, Store], str]


@dataclass(frozen=True)
class Session:
    """How much is measured."""

    scale: int
    runs: int
    steps: Callable[[Session], Iterator[Step]]
    budget: float | None = None
    only: str = ""
    """What must be found in the label of a step: a regular expression."""

    def carry_out(self, lab: Lab, store: Store, *, retry: bool = False) -> None:
        """Take one measurement after the other that the store has not; those beyond the budget are named.

        What has failed is taken again only if `retry` is set.
        """
        begun = time.monotonic()
        store.left_out.clear()
        store.broken.clear()
        for step in self.steps(self):
            if not re.search(self.only, step.label) or store.has(step.key, failed=not retry):
                continue
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
        for workload, part in _QUICK.items():
            yield from _pair(replace(session, scale=int(session.scale * part)), workload, ALOS, run)


def standard(session: Session) -> Iterator[Step]:
    """Every workload beside Kafka Streams, as often as asked for, and a sample of all the rest."""
    for run in range(session.runs):
        for workload in _ALL:
            yield from _pair(session, workload, ALOS, run)
    for system in PAIR:
        yield life_step("start", system, ALOS, 0)
    yield from _latencies(1_000, BOTH_MODES[:2], ("sum",), seconds=10.0)
    yield from _pair(session, "W2", EOS, 0)
    yield backlog(session, "W2", "quix", ALOS, 0)
    yield from _latencies(1_000, BOTH_MODES[2:], ("sum",), seconds=10.0)


def everything(session: Session) -> Iterator[Step]:
    """All that the page shows, so that a session that ends early has some of everything."""
    for guarantee in (ALOS, EOS):
        for workload in _ALL:
            yield from _pair(session, workload, guarantee, 0)
    yield from _latencies(1_000, BOTH_MODES)
    yield from _lives(session)
    yield from _again(session, ALOS)
    yield from _peers(session)
    yield from _growth(session)
    yield from _latencies(10_000, BOTH_MODES)
    for run in range(1, session.runs):
        yield from _latencies(1_000, BOTH_MODES[:2], run=run)
    yield from _again(session, EOS)
    yield from _latencies(1_000, ("tidemill-alos", "quix-alos"))


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
    share = _OWN_SHARE.get((name, workload), 1.0) * _PEER_SHARE.get(name, 1.0)
    records = int(session.scale * work.share * share)
    timeout = _PEER_SECONDS if name in PEERS else _PAIR_SECONDS
    return drain(
        Task(work, SYSTEMS[name], guarantee, records, keys, partitions, table_keys, timeout, run=run)
    )


def drain(task: Task) -> Step:
    """Drain a backlog once."""

    def take(lab: Lab, store: Store) -> str:
        result = lab.drain(task)
        store.add(result)
        return told(result)

    unusual = []
    if task.keys != 10_000:
        unusual.append(f"{task.keys:,} keys")
    if task.partitions != 4:
        unusual.append(f"{task.partitions} partitions")
    if task.table_keys is not None:
        unusual.append(f"{task.table_keys:,} rows")
    words = [task.workload.name, task.system.name, task.guarantee, *unusual, f"run {task.run + 1}"]
    return Step(" ".join(words), task.blank().key, take)


def latency_step(wish: latency.Wish) -> Step:
    """Measure latency once."""

    def take(lab: Lab, store: Store) -> str:
        found = latency.measure(lab, wish)
        store.add(found)
        return found.error or f"p50 {found.p50:.1f}, p95 {found.p95:.1f}, p99 {found.p99:.1f} ms"

    label = f"latency of {wish.workload} at {wish.rate:,}/s, {wish.setup.label} run {wish.run + 1}"
    return Step(label, wish.blank().key, take)


def life_step(measure: str, system: str, guarantee: str, run: int, keys: int | None = None) -> Step:
    """Take one measure of a program's life."""
    number = keys or lifecycle.KEYS[measure]

    def take(lab: Lab, store: Store) -> str:
        found = lifecycle.MEASURES[measure](lab, system, guarantee, run, number)
        store.add(found)
        return found.error or f"{found.value:.2f}"

    key = lifecycle.Life(measure, system, guarantee, number, run).key
    return Step(f"{measure} {system} {guarantee} run {run + 1}", key, take)


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


def _pair(session: Session, workload: str, guarantee: str, run: int) -> Iterator[Step]:
    for system in PAIR:
        yield backlog(session, workload, system, guarantee, run)


def _again(session: Session, guarantee: str) -> Iterator[Step]:
    for run in range(1, session.runs):
        for workload in _ALL:
            yield from _pair(session, workload, guarantee, run)


def _peers(session: Session) -> Iterator[Step]:
    for system in PEERS:
        for workload in _ALL:
            if SYSTEMS[system].can(workload, ALOS):
                yield backlog(session, workload, system, ALOS, 0)


def _latencies(
    rate: int,
    setups: tuple[str, ...],
    workloads: tuple[str, ...] = ("W0", "sum"),
    seconds: float = 20.0,
    run: int = 0,
) -> Iterator[Step]:
    for workload in workloads:
        for name in setups:
            yield latency_step(latency.Wish(latency.SETUPS[name], workload, rate, seconds, run=run))


def _lives(session: Session) -> Iterator[Step]:
    for run in range(session.runs):
        for system in PAIR:
            yield life_step("start", system, ALOS, run)
    for guarantee in (ALOS, EOS):
        for system in PAIR:
            yield life_step("recovery", system, guarantee, 0)
    for system in PAIR:
        yield life_step("idle", system, ALOS, 0)


def _growth(session: Session) -> Iterator[Step]:
    half = replace(session, scale=session.scale // 2)
    for keys in (100_000, 1_000_000):
        for system in PAIR:
            yield backlog(half, "W2", system, ALOS, 0, keys=keys)
    for partitions in (1, 16):
        for system in PAIR:
            yield backlog(half, "W2", system, ALOS, 0, partitions=partitions)
    for system in PAIR:
        yield backlog(session, "W4", system, ALOS, 0, table_keys=1_000_000)


SESSIONS = {
    "quick": Session(800_000, 1, quick, budget=200.0),
    "bench": Session(1_500_000, 2, standard, budget=1_020.0),
    "full": Session(1_500_000, 2, everything),
}
