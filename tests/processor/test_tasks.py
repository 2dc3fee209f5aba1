"""One task of a Python level: order, schedules, and what it remembers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import Row

from tidemill import Processor, Record
from tidemill.dsl import ProcessorContext, Punctuation
from tidemill.engine.python.cells import DictBackend
from tidemill.engine.python.operator import in_order
from tidemill.engine.python.program import Entry, OutputPlan, ProcessPlan, Program
from tidemill.engine.python.task import PythonTask

Backends = dict[str, DictBackend]


def task_of(supplier: Callable[[], Any], backends: Backends) -> PythonTask:
    program = Program(id="p", mocked_clock=True, width=1)
    same = lambda value: value  # noqa: E731
    node = program.add(ProcessPlan(name="node", supplier=supplier))
    out = program.add(OutputPlan(name="out", sender="node", port=0, key=same, value=same))
    program.connect(node, out, 0, "sink")
    program.ports.append(Entry(node=node, key=same, value=same))
    return PythonTask(0, program, backends.__getitem__)


def sent(task: PythonTask) -> list[tuple[Any, int]]:
    outputs, task.outputs = task.outputs, []
    return [(pair["value"], time) for _, pair, time, *_ in outputs if pair is not None]


class Ticking(Processor):
    clock: Punctuation | str = "stream-time"

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.schedule = context.schedule(10, self.clock, self.tick)  # type: ignore[arg-type]

    def process(self, record: Record) -> None:
        if record.value == "stop":
            self.schedule.cancel()

    def tick(self, now: int) -> None:
        self.context.forward(Record(None, "tick", now))


class WallTicking(Ticking):
    clock = "wall-clock"


@pytest.fixture
def backends() -> Backends:
    return defaultdict(DictBackend)


def test_stream_time_ticks_are_aligned_and_collapse(backends: Backends) -> None:
    task = task_of(Ticking, backends)
    for time in (25, 29, 30, 28, 71, 79, 80):
        task.accept(0, Record("k", None, time), None)
    assert sent(task) == [("tick", 25), ("tick", 30), ("tick", 71), ("tick", 80)]


def test_wall_clock_ticks_keep_their_grid(backends: Backends) -> None:
    task = task_of(WallTicking, backends)
    for now in (0, 9, 10, 45, 49, 50, 60):
        task.tick(now)
    assert sent(task) == [("tick", 10), ("tick", 45), ("tick", 50), ("tick", 60)]


def test_cancelled_schedule_stays_silent_in_a_task_made_anew(backends: Backends) -> None:
    task = task_of(Ticking, backends)
    task.accept(0, Record("k", None, 5), None)
    task.accept(0, Record("k", "stop", 15), None)
    task.finish(b"1")
    assert sent(task) == [("tick", 5)]
    again = task_of(Ticking, backends)
    again.accept(0, Record("k", None, 100), None)
    assert sent(again) == []


def test_task_made_anew_goes_on_where_the_last_one_was(backends: Backends) -> None:
    task = task_of(WallTicking, backends)
    task.tick(0)
    task.tick(13)
    task.accept(0, Record("k", None, 700), None)
    task.finish(b"1")
    again = task_of(WallTicking, backends)
    again.tick(19)
    assert (again.stream_time, again.clock, sent(again)) == (700, 19, [])
    again.tick(20)
    assert sent(again) == [("tick", 20)]


def test_queues_are_merged_oldest_head_first() -> None:
    def row(queue: int, sequence: int, time: int, port: int = 0) -> Row:
        return Row(port=port, queue=queue, sequence=sequence, time=time)

    rows = [row(2, 1, 5), row(1, 2, 9), row(1, 1, 7), row(2, 2, 8), row(0, 0, 3, port=-1)]
    records, barriers = in_order(rows)
    assert [(each["queue"], each["time"]) for each in records] == [(2, 5), (1, 7), (2, 8), (1, 9)]
    assert [each["time"] for each in barriers] == [3]
