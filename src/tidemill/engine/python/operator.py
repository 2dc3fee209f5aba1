"""The stateful operator of a Python level, as Spark's Python workers run it."""

from __future__ import annotations

import heapq
import sys
import uuid
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from tidemill.dsl import Record, RecordMetadata
from tidemill.engine.python.cells import Backend, MapStateBackend
from tidemill.engine.python.failure import NOWHERE, Origin
from tidemill.engine.python.program import Program
from tidemill.engine.python.task import MEMORY, TOKEN, PythonTask

BARRIER = -1
ASK, ANSWER = "ask", "answer"
"""Headers of barriers by which a test looks into stores."""
_KEPT_TASKS = 64

_alive: OrderedDict[tuple[str, int], tuple[bytes, PythonTask]] = OrderedDict()
"""Tasks this worker process ran before, with the token they wrote last: good as long as the state has it."""


class PythonLevel(StatefulProcessor):
    """Runs a program for each task of a level; rows of a batch go through it in Kafka Streams' order."""

    def __init__(self, program: Program) -> None:
        self._names = [MEMORY, *program.stores]
        # Users' classes may be known only where the topology was declared: its path goes with them.
        self._path = [folder for folder in sys.path if folder]
        self._program = cloudpickle.dumps(program)  # type: ignore[no-untyped-call]

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the states; also called on the driver, which wants to know their types."""
        self._states = {
            name: MapStateBackend(handle.getMapState(name, "key binary", "value binary"))
            for name in self._names
        }

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: ARG002, N802, N803  Spark's names
        """Take all rows of a task in this batch through its program."""
        task, program = self._task(int(key[0]))
        records, barriers = in_order(rows)
        now = max((row["time"] for row in barriers), default=None)
        if now is not None:
            task.set_clock(now)
        for row in records:
            _accept(task, program, row)
        if now is not None:
            task.tick(now)
        token = uuid.uuid4().bytes
        task.finish(token)
        outputs, task.outputs = task.outputs, []
        for row in barriers:
            told = _answer(task, row["headers"]) or row["headers"]
            outputs.append((BARRIER, None, row["time"], told, NOWHERE))
        _keep(program.id, task, token)
        width = program.width
        for sequence, (port, pair, time, headers, origin) in enumerate(outputs):
            yield _row(width, port, task.id, sequence, time, headers, origin, pair)

    def close(self) -> None:
        """Nothing to close: the state belongs to Spark, the tasks to the worker."""

    def _task(self, id_: int) -> tuple[PythonTask, Program]:
        """The task as this worker left it, if nobody wrote its state since; else one made from the state."""
        program = _loaded(self._program, self._path)
        # Out of the register while it works: after an error its memory is not to be trusted.
        token, task = _alive.pop((program.id, id_), (b"", None))
        if task is not None:
            if self._open(MEMORY).get(TOKEN) == token:
                task.attach(self._open)
                return task, program
            task.close()
        return PythonTask(id_, program, self._open), program

    def _open(self, name: str) -> Backend:
        return self._states[name]


def _answer(task: PythonTask, headers: Any) -> list[dict[str, Any]] | None:
    """The entries of a store that a barrier asks for, if this task has it."""
    for header in headers or ():
        name = bytes(header["value"] or b"").decode()
        if header["key"] == ASK and name in task.stores:
            told: list[dict[str, Any]] = [{"key": ANSWER, "value": header["value"]}]
            for key, value in task.stores.cells(name).scan():
                told += [{"key": "key", "value": key}, {"key": "value", "value": value}]
            return told
    return None


def in_order(rows: Iterable[Row]) -> tuple[Iterator[Row], list[Row]]:
    """Records in Kafka Streams' order, and barriers.

    Within a queue rows run by sequence; between queues the one whose next record is oldest goes first.
    """
    queues: dict[int, list[Row]] = defaultdict(list)
    barriers = []
    for row in rows:
        if row["port"] == BARRIER:
            barriers.append(row)
        else:
            queues[row["queue"]].append(row)
    for queue in queues.values():
        queue.sort(key=lambda row: row["sequence"])
    return _oldest_first(queues), barriers


def _oldest_first(queues: dict[int, list[Row]]) -> Iterator[Row]:
    heads = [(rows[0]["time"], queue, 0) for queue, rows in queues.items()]
    heapq.heapify(heads)
    while heads:
        _, queue, at = heads[0]
        rows = queues[queue]
        yield rows[at]
        if at + 1 < len(rows):
            heapq.heapreplace(heads, (rows[at + 1]["time"], queue, at + 1))
        else:
            heapq.heappop(heads)


def _accept(task: PythonTask, program: Program, row: Row) -> None:
    entry = program.ports[row["port"]]
    pair, headers = row[f"p{row['port']}"], row["headers"]
    origin = Origin(row["topic"], row["partition"], row["offset"], row["raw"])
    if entry.passing is not None:
        task.outputs.append((entry.passing, pair, row["time"], headers, origin))
        return
    also = [(port, pair, row["time"], headers, origin) for port in entry.also]
    assert entry.key is not None
    assert entry.value is not None
    named = tuple((header["key"], header["value"]) for header in headers or ())
    record = Record(entry.key(pair["key"]), entry.value(pair["value"]), row["time"], named)
    metadata = None
    if entry.from_topic:
        metadata = RecordMetadata(row["topic"], row["partition"], row["offset"])
    task.accept(row["port"], record, metadata, origin, also)


@lru_cache(maxsize=4)
def _columns(width: int) -> tuple[str, ...]:
    origin = ("topic", "partition", "offset", "raw")
    return ("port", "task", "sequence", "time", "headers", *origin, *(f"p{port}" for port in range(width)))


def _row(
    width: int, port: int, task: int, sequence: int, time: int, headers: Any, origin: Origin, pair: Any
) -> Row:
    pairs: list[Any] = [None] * width
    if port != BARRIER:
        pairs[port] = pair
    made_from = (origin.topic, origin.partition, origin.offset, origin.raw)
    fields = (port, task, sequence, time, headers, *made_from, *pairs)
    return Row(**dict(zip(_columns(width), fields, strict=True)))


def _keep(program: str, task: PythonTask, token: bytes) -> None:
    _alive[program, task.id] = (token, task)
    while len(_alive) > _KEPT_TASKS:
        _, (_, oldest) = _alive.popitem(last=False)
        oldest.close()


@lru_cache(maxsize=8)
def _from_bytes(data: bytes) -> Program:
    program: Program = cloudpickle.loads(data)
    return program


def _loaded(data: bytes, path: list[str]) -> Program:
    sys.path.extend(folder for folder in path if folder not in sys.path)
    return _from_bytes(data)
