"""The steps of a task in Python: processors, transformers, mappers, folds, and the ways out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from tidemill.dsl import Record, ValueAndTimestamp
from tidemill.engine.python.codec import required
from tidemill.engine.python.context import Context
from tidemill.engine.python.failure import Origin, ProcessingError, user_code
from tidemill.engine.python.key_value import CellsKeyValueStore
from tidemill.engine.python.versioned import CellsVersionedStore
from tidemill.engine.python.window import CellsSessionStore, CellsWindowStore
from tidemill.errors import UsageError

if TYPE_CHECKING:
    from tidemill.engine.python.program import (
        FoldPlan,
        KeeperPlan,
        MapPlan,
        OutputPlan,
        PassPlan,
        ProcessPlan,
        TransformPlan,
        ValuePlan,
    )
    from tidemill.engine.python.task import PythonTask


class Node(ABC):
    """A step at work: takes records at its inputs and hands others to its children."""

    def __init__(self, task: PythonTask, name: str, place: str | None) -> None:
        self.task = task
        self.name = name
        self.place = place
        self.children: list[tuple[str, Node, int]] = []

    def open(self) -> None:
        """Called once, after all steps are there."""
        return

    @abstractmethod
    def process(self, slot: int, record: Record) -> None:
        """Take a record at an input."""

    def flush(self) -> None:
        """Hand on what was held back for this batch."""
        return

    def close(self) -> None:
        """Called once, after the last record."""
        return

    def check(self, record: Record) -> None:  # noqa: ARG002  most may forward anything
        """Refuse a record that this step may not forward."""
        return

    def forward(self, record: Record, child: str | None = None) -> None:
        """Hand a record to all children, or to the one named."""
        chosen = [each for each in self.children if child is None or each[0] == child]
        if child is not None and not chosen:
            names = ", ".join(dict.fromkeys(name for name, _, _ in self.children)) or "none"
            raise UsageError(f"`{self.name}` has no child `{child}`", remedy=f"it has: {names}")
        for _, node, slot in chosen:
            node.process(slot, record)


class PassNode(Node):
    """Hands records on: sources, merges, sinks."""

    def __init__(self, task: PythonTask, plan: PassPlan) -> None:
        super().__init__(task, plan.name, None)

    def process(self, slot: int, record: Record) -> None:  # noqa: ARG002  one input
        """Hand it on."""
        self.forward(record)


class OutputNode(Node):
    """A way out of the level."""

    def __init__(self, task: PythonTask, plan: OutputPlan) -> None:
        super().__init__(task, plan.name, plan.place)
        self._plan = plan

    def process(self, slot: int, record: Record) -> None:  # noqa: ARG002  one input
        """Let a record leave."""
        if self._plan.needs_key and record.key is None:
            return
        with user_code(self._plan.sender, self.place):
            pair = {"key": self._plan.key(record.key), "value": self._plan.value(record.value)}
            self.task.send(self._plan.port, pair, record.timestamp, record.headers)


class ProcessNode(Node):
    """A user's processor; inputs after the first feed the stores it reads but does not own."""

    def __init__(self, task: PythonTask, plan: ProcessPlan) -> None:
        super().__init__(task, plan.name, plan.place)
        self._plan = plan

    def open(self) -> None:
        """Make the processor and tell it its context."""
        context = Context(self.task, self, self._plan.writable, self._plan.readable)
        with user_code(self.name, self.place):
            self._processor = self._plan.supplier()
            self._processor.init(context)

    def process(self, slot: int, record: Record) -> None:
        """Hand the record to the processor."""
        if slot:
            mirror(self.task, self._plan.fed[slot - 1], record)
            return
        self._key = record.key
        with user_code(self.name, self.place):
            self._processor.process(record)

    def check(self, record: Record) -> None:
        """What keeps the key may not change it."""
        if self._plan.fixed_key and self.task.in_record and record.key != self._key:
            raise UsageError(
                f"`{self.name}` forwards the key {record.key!r} for a record of {self._key!r}",
                remedy="process_values keeps the key; use process to change it",
            )

    def close(self) -> None:
        """Tell the processor that it is over."""
        with user_code(self.name, self.place):
            self._processor.close()


class TransformNode(Node):
    """A user's transformer of a table's values; with a store it keeps what it made."""

    def __init__(self, task: PythonTask, plan: TransformPlan) -> None:
        super().__init__(task, plan.name, plan.place)
        self._plan = plan

    def open(self) -> None:
        """Make the transformer and tell it its context."""
        context = Context(self.task, self, self._plan.writable, self._plan.readable)
        with user_code(self.name, self.place):
            self._transformer = self._plan.supplier()
            self._transformer.init(context)

    def process(self, slot: int, record: Record) -> None:
        """The row with its new value."""
        if slot:
            mirror(self.task, self._plan.fed[slot - 1], record)
            return
        with user_code(self.name, self.place):
            value = self._transformer.transform(record.key, record.value)
        if self._plan.store is not None:
            mirror(self.task, self._plan.store, record.with_value(value))
        self.forward(record.with_value(value))

    def close(self) -> None:
        """Tell the transformer that it is over."""
        with user_code(self.name, self.place):
            self._transformer.close()


class KeeperNode(Node):
    """Keeps a global or read-only store from its topic, by the user's processor or as the topic is."""

    def __init__(self, task: PythonTask, plan: KeeperPlan) -> None:
        super().__init__(task, plan.name, plan.place)
        self._plan = plan
        self._processor: Any = None

    def open(self) -> None:
        """Make the user's processor, if there is one."""
        if self._plan.supplier is not None:
            context = Context(self.task, self, frozenset({self._plan.store}), self._plan.readable)
            with user_code(self.name, self.place):
                self._processor = self._plan.supplier()
                self._processor.init(context)

    def process(self, slot: int, record: Record) -> None:  # noqa: ARG002  one input
        """Bring the store up to date."""
        if self._processor is None:
            mirror(self.task, self._plan.store, record)
            return
        try:
            with user_code(self.name, self.place):
                self._processor.process(record)
        except ProcessingError as error:
            # Every task keeps this store: it would be wrong everywhere, whatever a handler says.
            error.is_final = True
            raise


class MapNode(Node):
    """A function of Python values instead of Columns: `plan.records` makes records of what it returns."""

    def __init__(self, task: PythonTask, plan: MapPlan) -> None:
        super().__init__(task, plan.name, plan.place)
        self._plan = plan

    def process(self, slot: int, record: Record) -> None:  # noqa: ARG002  one input
        """Forward what the function makes of the record."""
        with user_code(self.name, self.place):
            made = list(self._plan.records(self._plan.fn, record))
        for each in made:
            self.forward(each)


class ValueNode(Node):
    """What a function of Python values makes of what the kernel gathered for it."""

    def __init__(self, task: PythonTask, plan: ValuePlan) -> None:
        super().__init__(task, plan.name, plan.place)
        self._plan = plan

    def process(self, slot: int, record: Record) -> None:  # noqa: ARG002  one input
        """The record with its new value."""
        value = None
        if record.value is not None:
            with user_code(self.name, self.place):
                value = self._plan.fn(record.key, record.value)
        if self._plan.store is not None:
            mirror(self.task, self._plan.store, record.with_value(value))
        self.forward(record.with_value(value))


class FoldNode(Node):
    """A fold of Python values: one aggregate per key, with the largest timestamp merged in."""

    def __init__(self, task: PythonTask, plan: FoldPlan) -> None:
        super().__init__(task, plan.name, plan.place)
        self._plan = plan
        self._held: dict[Any, tuple[Record, Origin]] = {}

    def open(self) -> None:
        """Find the store."""
        rows = self.task.stores[self._plan.store]
        assert isinstance(rows, CellsKeyValueStore)
        self._rows = rows

    def process(self, slot: int, record: Record) -> None:
        """Fold a record in; one without a key or a value is left out."""
        if record.key is None or record.value is None:
            return
        with user_code(self.name, self.place):
            key = required("key", self._plan.store, self._plan.keys.encode(record.key))
            before = self._rows.get(record.key) or ValueAndTimestamp(None, record.timestamp)
            new = self._plan.fold(slot, record.key, record.value, before.value)
            time = max(before.timestamp, record.timestamp)
            # As in Kafka Streams, a deletion that a cache hands on has the time of its own record.
            time = record.timestamp if new is None and self._plan.cached else time
            self._rows.put(record.key, None if new is None else ValueAndTimestamp(new, time))
        result = Record(record.key, new, time, record.headers)
        if self._plan.cached:
            self._held.pop(key, None)
            self._held[key] = result, self.task.origin
        else:
            self.forward(result)

    def flush(self) -> None:
        """One update per key and batch, in the order of the last ones."""
        held, self._held = self._held, {}
        for record, origin in held.values():
            with self.task.at_work(origin):
                self.forward(record)


def mirror(task: PythonTask, name: str, record: Record) -> None:
    """Bring a store to the state its own topic or table is in."""
    if record.key is None:
        return
    match task.stores[name]:
        case CellsKeyValueStore() as store:
            store.put(record.key, record.value)
        case CellsWindowStore() as store:
            store.put(record.key.key, record.value, record.key.start)
        case CellsSessionStore() as store:
            store.put(record.key, record.value)
        case CellsVersionedStore() as store:
            store.put(record.key, record.value, record.timestamp)
