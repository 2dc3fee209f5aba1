"""What a Python level runs, as plain data that is sent to the workers: steps, edges, stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tidemill.dsl import Record
from tidemill.engine.python import nodes
from tidemill.serde.base import Serde
from tidemill.topology import StoreSpec

if TYPE_CHECKING:
    from tidemill.engine.python.task import PythonTask

Children = Sequence[tuple[str, int, int]]
"""The name of a child as the user knows it, its index in the program, and its input."""


@dataclass(slots=True, kw_only=True)
class NodePlan(ABC):
    """A step: what every task makes its own of."""

    name: str
    place: str | None = None
    children: list[tuple[str, int, int]] = field(default_factory=list)

    @abstractmethod
    def make(self, task: PythonTask) -> nodes.Node:
        """The step at work in a task."""


@dataclass(slots=True, kw_only=True)
class PassPlan(NodePlan):
    """Hands records on."""

    def make(self, task: PythonTask) -> nodes.Node:
        """The step at work in a task."""
        return nodes.PassNode(task, self)


@dataclass(slots=True, kw_only=True)
class OutputPlan(NodePlan):
    """A way out, and how its keys and values are written."""

    sender: str
    port: int
    key: Callable[[Any], Any]
    value: Callable[[Any], Any]
    needs_key: bool = False

    def make(self, task: PythonTask) -> nodes.Node:
        """The step at work in a task."""
        return nodes.OutputNode(task, self)


@dataclass(slots=True, kw_only=True)
class ProcessPlan(NodePlan):
    """A user's processor; `fed` are stores that its later inputs keep up to date."""

    supplier: Callable[[], Any]
    writable: frozenset[str] = frozenset()
    readable: frozenset[str] = frozenset()
    fed: tuple[str, ...] = ()
    fixed_key: bool = False

    def make(self, task: PythonTask) -> nodes.Node:
        """The step at work in a task."""
        return nodes.ProcessNode(task, self)


@dataclass(slots=True, kw_only=True)
class TransformPlan(NodePlan):
    """A user's transformer of a table's values."""

    supplier: Callable[[], Any]
    store: str | None = None
    writable: frozenset[str] = frozenset()
    readable: frozenset[str] = frozenset()
    fed: tuple[str, ...] = ()

    def make(self, task: PythonTask) -> nodes.Node:
        """The step at work in a task."""
        return nodes.TransformNode(task, self)


@dataclass(slots=True, kw_only=True)
class KeeperPlan(NodePlan):
    """A store kept from a topic."""

    store: str
    supplier: Callable[[], Any] | None = None
    readable: frozenset[str] = frozenset()

    def make(self, task: PythonTask) -> nodes.Node:
        """The step at work in a task."""
        return nodes.KeeperNode(task, self)


@dataclass(slots=True, kw_only=True)
class MapPlan(NodePlan):
    """A function of Python values, and how records are made of what it returns."""

    fn: Callable[..., Any]
    records: Callable[[Callable[..., Any], Record], Iterable[Record]]

    def make(self, task: PythonTask) -> nodes.Node:
        """The step at work in a task."""
        return nodes.MapNode(task, self)


@dataclass(slots=True, kw_only=True)
class ValuePlan(NodePlan):
    """A new value by `fn(key, value)`; a deletion passes uncalled. With a store it keeps what it made."""

    fn: Callable[[Any, Any], Any]
    store: str | None = None

    def make(self, task: PythonTask) -> nodes.Node:
        """The step at work in a task."""
        return nodes.ValueNode(task, self)


@dataclass(slots=True, kw_only=True)
class FoldPlan(NodePlan):
    """A fold: `fold(slot, key, value, old)` returns the new aggregate; `old` is None at first."""

    store: str
    keys: Serde
    values: Serde
    fold: Callable[[int, Any, Any, Any], Any]
    cached: bool = False

    def make(self, task: PythonTask) -> nodes.Node:
        """The step at work in a task."""
        return nodes.FoldNode(task, self)


@dataclass(slots=True, kw_only=True)
class Entry:
    """An input port: where its records go, and how keys and values are read.

    Records of a `passing` port are not for this level: they leave by that output as they came.
    """

    node: int = -1
    slot: int = 0
    key: Callable[[Any], Any] | None = None
    value: Callable[[Any], Any] | None = None
    passing: int | None = None
    from_topic: bool = False
    """Whether records are as they were read from a topic."""
    also: tuple[int, ...] = ()
    """Outputs that the records of this port leave by as well, as they came."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What processors learn of the application; in a test its driver has the clock."""

    application_id: str = "tidemill"
    configs: Mapping[str, Any] = field(default_factory=dict)
    mocked_clock: bool = False


@dataclass(slots=True, kw_only=True)
class Program:
    """A Python level: its steps, the ports in, and the stores of each task."""

    id: str
    nodes: list[NodePlan] = field(default_factory=list)
    ports: list[Entry] = field(default_factory=list)
    stores: dict[str, StoreSpec] = field(default_factory=dict)
    width: int = 0
    """How many ports lead out."""
    application_id: str = "tidemill"
    configs: Mapping[str, Any] = field(default_factory=dict)
    mocked_clock: bool = False
    problems: int | None = None
    """The port out for records that cannot be processed; None where they fail the query."""

    def add(self, plan: NodePlan) -> int:
        """Add a step; its index."""
        self.nodes.append(plan)
        return len(self.nodes) - 1

    def connect(self, parent: int, child: int, slot: int, name: str) -> None:
        """Send what a step forwards to a child, which the user calls by this name."""
        self.nodes[parent].children.append((name, child, slot))

    @property
    def entries(self) -> list[int]:
        """The step each port leads to."""
        return [port.node for port in self.ports]

    @property
    def slots(self) -> list[int]:
        """The input of that step."""
        return [port.slot for port in self.ports]
