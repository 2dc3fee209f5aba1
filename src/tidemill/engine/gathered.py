"""Steps of the kernel whose function takes Python values: the kernel gathers what the function needs.

Windows, clocks, order and state stay the kernel's. A step in Python behind it calls the function.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from tidemill.topology import PythonFunction, StoreSpec
from tidemill.topology.nodes import (
    Count,
    Fold,
    ForeignKeyJoin,
    Gather,
    Join,
    Node,
    Reduce,
    StreamAggregate,
    StreamGlobalJoin,
    StreamStreamJoin,
    StreamTableJoin,
    TableAggregate,
    TableTableJoin,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

J = TypeVar("J", bound=Join)


def gathering(node: Node) -> Node | None:
    """The kernel's part of a step that calls Python; None for a step that needs none."""
    match node:
        case StreamAggregate(op=Reduce(fn=fn) | Fold(fn=fn)) if node.window and _is_python(fn):
            store = _inner(node.store, "values")
            return replace(node, name=f"{node.name}/values", op=Gather(), store=store)
        case TableTableJoin() | ForeignKeyJoin() if _is_python(node.joiner):
            return replace(_pairing(node), store=_inner(node.store, "pairs"))
        case StreamStreamJoin() | StreamTableJoin() | StreamGlobalJoin() if _is_python(node.joiner):
            return _pairing(node)
    return None


def regrouping(node: TableAggregate) -> TableAggregate:
    """The kernel's part of a grouped table: rows under their new key, whatever is then made of them."""
    return replace(node, op=Count())


def _pairing(node: J) -> J:
    return replace(node, name=f"{node.name}/pairs", joiner=_pair, with_key=False)


def _pair(left: Column, right: Column) -> Column:
    from pyspark.sql import functions as F  # a plan is made without Spark

    return F.struct(left.alias("left"), right.alias("right"))


def _inner(store: StoreSpec, part: str) -> StoreSpec:
    return replace(store, name=f"{store.name}.{part}", queryable=False)


def _is_python(fn: Any) -> bool:
    return isinstance(fn, PythonFunction)
