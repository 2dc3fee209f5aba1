"""The compiler: every step becomes a kernel node; one table says which function lowers which node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from tidemill.engine.columns import HEADERS, Columns
from tidemill.engine.steps import PhysicalPlan, Role, Step
from tidemill.engine.types import data_type, java_type
from tidemill.topology import Topology, TopologyError
from tidemill.topology.nodes import Node, StoreSpec


@dataclass(frozen=True, slots=True)
class Types:
    """What a step hands on: the type of its keys and of its values."""

    key: DataType
    value: DataType


@dataclass(frozen=True, slots=True)
class Partial:
    """How records are combined before they are shuffled, and what the shuffle then carries."""

    folder: Any
    types: Types


@dataclass(slots=True)
class Lowering:
    """One plan being compiled: what every lowering function needs, and what it leaves for later ones."""

    spark: SparkSession
    topology: Topology
    plan: PhysicalPlan
    caching: bool = True
    in_batches: bool = False
    """Whether a batch has an end: then records may be combined before a shuffle."""
    types: dict[str, Types] = field(default_factory=dict)
    """Types of finished steps by name; of shuffled inputs as the shuffle carries them."""
    partials: dict[str, Partial] = field(default_factory=dict)
    """Steps that take partial aggregates in place of records, by name."""
    index: dict[str, int] = field(default_factory=dict)
    """Kernel indexes of the steps of the level at work."""
    _columns: Columns | None = None

    @property
    def columns(self) -> Columns:
        """Calls users' functions."""
        if self._columns is None:
            self._columns = Columns(self.spark)
        return self._columns

    @property
    def nodes(self) -> Any:
        """The Java package of kernel nodes."""
        return self.spark._jvm.io.tidemill.node  # type: ignore[union-attr]

    @property
    def folds(self) -> Any:
        """The Java package of folders."""
        return self.spark._jvm.io.tidemill.fold  # type: ignore[union-attr]

    def java_type(self, type_: DataType) -> Any:
        """A type as the JVM knows it."""
        return java_type(self.spark, type_)

    @property
    def headers_type(self) -> Any:
        """The Java type of record headers."""
        return self.java_type(data_type(HEADERS))

    def input_types(self, step: Step, slot: int = 0) -> Types:
        """The types of what comes in by a slot."""
        return self.types[step.inputs[slot].parent]

    def is_cached(self, store: StoreSpec | None) -> bool:
        """Whether a table hands on one update per key and batch."""
        return self.caching and store is not None and store.caching

    def list(self, items: list[Any]) -> Any:
        """A Java list."""
        java = self.spark._jvm.java.util.ArrayList()  # type: ignore[union-attr]
        for item in items:
            java.add(item)
        return java


Lower = Callable[[Lowering, Step], tuple[Any, Types]]
_TABLE: dict[tuple[type[Node], Role], Lower] = {}


def lowers(node_type: type[Node], role: Role = Role.WHOLE) -> Callable[[Lower], Lower]:
    """Registers the function that makes a kernel node of a topology node."""

    def register(function: Lower) -> Lower:
        _TABLE[node_type, role] = function
        return function

    return register


def lower(lowering: Lowering, step: Step) -> Any:
    """The kernel node of a step; its types are noted for the steps after it."""
    import tidemill.engine.operators  # noqa: F401  registers all lowerings

    function = _TABLE.get((type(step.node), step.role))
    if function is None:
        raise TopologyError(
            f"{step.node.type_name} cannot be run by the kernel yet",
            node=step.node.name,
            place=step.node.place,
            remedy="declare this step with the operators listed in docs/conformance.md",
        )
    node, types = function(lowering, step)
    lowering.types[step.name] = types
    return node
