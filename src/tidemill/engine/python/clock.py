"""The wall clock of processors in production: ticks that reach every task through the query's own sources."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidemill.topology import Topology
from tidemill.topology.nodes import GlobalStore, Node, Process, TransformValues

_SOURCE = "io.tidemill.clock.TickSource"
INTERVAL_MS = 1000
"""How often a topology with schedules is woken up while no records come."""


def ticks(spark: SparkSession, topology: Topology) -> DataFrame | None:
    """The clock of a topology's processors, None where it has none.

    Without a schedule there is one tick, at the start: it makes the processors before their first record.
    """
    suppliers = [supplier for node in topology for supplier in _suppliers(node)]
    if not suppliers:
        return None
    interval = INTERVAL_MS if any(may_schedule(supplier) for supplier in suppliers) else 0
    return spark.readStream.format(_SOURCE).option("interval", interval).load()


def may_schedule(supplier: Callable[..., Any]) -> bool:
    """Whether the code around a processor speaks of schedules; where it cannot be read, it may."""
    kinds = supplier.__mro__ if isinstance(supplier, type) else (supplier,)
    modules = {getattr(kind, "__module__", "") for kind in kinds} - {"tidemill.dsl.processor", "builtins"}
    for name in modules:
        try:
            if "schedule" in inspect.getsource(sys.modules[name]):
                return True
        except (KeyError, OSError, TypeError):
            return True
    return False


def _suppliers(node: Node) -> Iterator[Callable[..., Any]]:
    if isinstance(node, Process | TransformValues | GlobalStore) and callable(node.supplier):
        yield node.supplier
