"""One task of a Python level: its processors and stores, records one at a time and depth first."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tidemill.dsl import Punctuation, Record, RecordMetadata
from tidemill.engine.python.cells import Cells
from tidemill.engine.python.failure import NOWHERE, Origin, ProcessingError, user_code
from tidemill.engine.python.schedule import Schedule, Schedules
from tidemill.engine.python.stores import Open, Stores

if TYPE_CHECKING:
    from tidemill.engine.python.nodes import Node
    from tidemill.engine.python.program import Program

MEMORY = "tidemill.task"
"""The state of the task itself: its clocks and schedules."""
_CLOCKS = b"clocks"

Output = tuple[int, dict[str, Any] | None, int, Any, Origin]
"""What leaves: the port, the pair of key and value, the time, the headers, and what it was made from."""


class PythonTask:
    """The steps of a level at work for one task; it lives as long as its worker keeps it."""

    def __init__(self, id_: int, program: Program, backends: Open) -> None:
        self.id = id_
        self.application_id = program.application_id
        self.configs: Mapping[str, Any] = program.configs
        self.outputs: list[Output] = []
        self.metadata: RecordMetadata | None = None
        self.in_record = False
        self.origin = NOWHERE
        self._problems = program.problems
        self._mocked = program.mocked_clock
        self._memory = Cells(backends(MEMORY))
        self.stores = Stores(program.stores, backends)
        self.schedules = Schedules(self._memory)
        saved = self._memory.get(_CLOCKS)
        clocks: tuple[int, int] = (-1, 0) if saved is None else json.loads(saved)
        self.stream_time, self._clock = clocks
        self._nodes: list[Node] = [plan.make(self) for plan in program.nodes]
        for plan, node in zip(program.nodes, self._nodes, strict=True):
            node.children = [(name, self._nodes[child], slot) for name, child, slot in plan.children]
        self._entries = [self._nodes[index] for index in program.entries]
        self._slots = program.slots
        self._is_open = False

    @property
    def clock(self) -> int:
        """The wall clock: that of the machine, or the one a test moves."""
        return self._clock if self._mocked else time.time_ns() // 1_000_000

    def attach(self, backends: Open) -> None:
        """Go on with another batch's handles on the same state."""
        self._memory.attach(backends(MEMORY))
        self.stores.attach(backends)

    def set_clock(self, now: int) -> None:
        """Tell the time before anything happens in this batch."""
        self._clock = max(self._clock, now)
        self._open()

    def accept(
        self,
        entry: int,
        record: Record,
        metadata: RecordMetadata | None,
        origin: Origin = NOWHERE,
        also: Sequence[Output] = (),
    ) -> None:
        """Take one record through all steps, then call what is due by stream time.

        `also` are outputs that belong to the record: they leave with it, or not at all.
        """
        self._open()
        self.metadata, self.in_record = metadata, True
        self.stream_time = max(self.stream_time, record.timestamp)
        with self.at_work(origin):
            self.outputs += also
            self._entries[entry].process(self._slots[entry], record)
        self.metadata, self.in_record = None, False
        self.schedules.run(Punctuation.STREAM_TIME, self.stream_time, self._call)

    @contextmanager
    def at_work(self, origin: Origin) -> Iterator[None]:
        """Something is done for a record: if it fails, nothing of it leaves."""
        self.origin, before = origin, len(self.outputs)
        try:
            yield
        except ProcessingError as error:
            if self._problems is None or error.is_final:
                raise error.of(origin) from error.error
            raw = origin.raw
            key, value, time = (None, None, 0) if raw is None else (raw["key"], raw["value"], raw["time"])
            letter = {"key": key, "value": value}
            told = error.headers(origin, self.application_id)
            self.outputs[before:] = [(self._problems, letter, time, told, origin)]
        finally:
            self.origin = NOWHERE

    def tick(self, now: int) -> None:
        """Call what is due by the wall clock."""
        self._clock = max(self._clock, now)
        self._open()
        self.schedules.run(Punctuation.WALL_CLOCK_TIME, self._clock, self._call)

    def send(self, port: int, pair: dict[str, Any], timestamp: int, headers: Any) -> None:
        """Let a record leave the level."""
        rows = [{"key": name, "value": value} for name, value in headers]
        self.outputs.append((port, pair, timestamp, rows, self.origin))

    def finish(self, token: bytes) -> None:
        """Hand on what was held back and write all state down; the token says who wrote it last."""
        for node in self._nodes:
            node.flush()
        self.stores.save()
        self.schedules.save()
        clocks = json.dumps([self.stream_time, self._clock]).encode()
        if self._memory.get(_CLOCKS) != clocks:
            self._memory.put(_CLOCKS, clocks)
        self._memory.put(TOKEN, token)
        self._memory.save()

    def close(self) -> None:
        """Tell all processors that it is over."""
        for node in self._nodes:
            node.close()

    def _open(self) -> None:
        if not self._is_open:
            self._is_open = True
            for node in self._nodes:
                node.open()

    def _call(self, schedule: Schedule, now: int) -> None:
        node = next(node for node in self._nodes if node.name == schedule.node)
        with self.at_work(NOWHERE), user_code(node.name, node.place):
            schedule.punctuator(now)


TOKEN = b"token"
"""Where a task writes who wrote its state last."""
