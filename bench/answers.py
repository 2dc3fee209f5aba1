"""What a system has answered, read by several processes, and the right answers, kept in files."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from bench import data, reference
from bench.reference import Answer, Inputs, Tally, expected
from bench.workloads import WORKLOADS

_SECONDS = 60.0
_AT_ONCE = 5_000
_FEW = 100_000
"""Records that are read sooner than processes are started."""
SILENT = {"log_level": 0}
"""The library would report every connection that ends with the broker."""


@dataclass(frozen=True)
class Output:
    """A topic of results, and how they are written in it."""

    address: str
    topic: str
    partitions: int
    workload: str
    form: str
    size: int
    """About how many records there are."""


class RightAnswers:
    """Answers computed once for each input, and again when the code that computes them changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[Path, Answer] = {}

    def of(self, workload: str, inputs: Inputs) -> Answer:
        """The right answer of a workload."""
        file = self._folder / f"{'-'.join([workload, *sorted(data.name for data in inputs.values())])}.json"
        if file not in self._kept:
            if (found := self._load(file)) is None:
                found = expected(workload, inputs)
                self._save(file, found)
            self._kept = {file: found}  # one at a time: those of many keys are large
        return self._kept[file]

    def _load(self, file: Path) -> Answer | None:
        try:
            kept = json.loads(file.read_text())
        except (OSError, ValueError):
            return None
        if kept["code"] != _code():
            return None
        return Answer(kept["finals"], None if kept["tally"] is None else Tally(*kept["tally"]))

    def _save(self, file: Path, answer: Answer) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        tally = None if answer.tally is None else [answer.tally.rows, answer.tally.sum]
        unfinished = file.with_suffix(f".{os.getpid()}")
        unfinished.write_text(json.dumps({"code": _code(), "finals": answer.finals, "tally": tally}))
        unfinished.replace(file)


def given(output: Output) -> Answer:
    """The answer in a topic: the last value of every key, or the multiset of rows."""
    readers = min(os.cpu_count() or 1, output.partitions)
    if output.size < _FEW:
        found = [_share(output, range(output.partitions))]
    else:
        shares = [range(output.partitions)[at::readers] for at in range(readers)]
        with ProcessPoolExecutor(readers, mp_context=get_context("spawn")) as pool:
            found = list(pool.map(_share, [output] * readers, shares))
    if WORKLOADS[output.workload].multiset:
        rows = sum(tally.rows for tally, _ in found)
        return Answer(tally=Tally(rows, sum(tally.sum for tally, _ in found) % (1 << 64)))
    finals, newest = found[0][1]
    for _, (values, times) in found[1:]:
        for key, value in values.items():
            if key not in finals or times.get(key, 0) >= newest.get(key, 0):
                finals[key], newest[key] = value, times.get(key, 0)
    return Answer({key: value for key, value in finals.items() if value is not None})


def _share(
    output: Output, partitions: Sequence[int]
) -> tuple[Tally, tuple[dict[str, object], dict[str, int]]]:
    """The rows of some partitions, or their last values with the times of those that have one."""
    work = WORKLOADS[output.workload]
    read = work.reader(output.form)
    tally = Tally()
    finals: dict[str, object] = {}
    newest: dict[str, int] = {}
    if work.multiset:
        add = tally.add
        for record in records(output.address, output.topic, partitions):
            add(str(read(*record).value))
        return tally, (finals, newest)
    for record in records(output.address, output.topic, partitions):
        key, value, at = read(*record)
        if not at:
            finals[key] = value
        elif at >= newest.get(key, 0):
            finals[key], newest[key] = value, at
    return tally, (finals, newest)


def records(
    address: str, topic: str, partitions: Sequence[int]
) -> Iterator[tuple[bytes | None, bytes | None]]:
    """Keys and values of all committed records, those of a partition in order."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            **SILENT,
            "group.id": "bench-reader",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "queued.max.messages.kbytes": 1 << 17,
            "fetch.message.max.bytes": 1 << 22,
            "fetch.wait.max.ms": 20,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, part, OFFSET_BEGINNING) for part in partitions])
        still_open = len(partitions)
        patience = time.monotonic() + _SECONDS
        while still_open:
            # Waits until there are so many, or until the time is over: at the end there are fewer.
            found: list[Any] = consumer.consume(_AT_ONCE, 0.1)
            if found:
                patience = time.monotonic() + _SECONDS
            elif time.monotonic() > patience:
                raise RuntimeError(f"{topic} could not be read to its end")
            for message in found:
                if message.error() is None:
                    yield message.key(), message.value()
                else:
                    still_open -= 1
    finally:
        consumer.close()


def _code() -> str:
    sources = (Path(str(module.__file__)).read_bytes() for module in (data, reference))
    return hashlib.sha256(b"".join(sources)).hexdigest()[:12]
