"""A topology as plain data: what is stored beside a checkpoint, shown in the console and compared."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from tidemill.serde.base import Serde
from tidemill.topology.functions import function_arguments, function_name
from tidemill.topology.nodes import Node, StoreSpec
from tidemill.topology.partitioning import shuffles, sub_topologies

if TYPE_CHECKING:
    from tidemill.topology.graph import Topology

VERSION = 1
"""The version of the form; a reader refuses a newer one."""


def plan(topology: Topology, *, places: bool = False) -> dict[str, Any]:
    """Nodes, stores, shuffles and sub-topologies as JSON-ready data; absent fields are left out."""
    return {
        "version": VERSION,
        "nodes": [_node(node, places) for node in topology],
        "stores": [
            {**_fields(store), "owner": topology.store_owner(store.name).name}
            for store in topology.stores.values()
        ],
        "shuffles": [_fields(shuffle) for shuffle in shuffles(topology)],
        "sub_topologies": [_fields(part) for part in sub_topologies(topology)],
    }


def _node(node: Node, places: bool) -> dict[str, Any]:
    own = _fields(node)
    own.pop("place", None)
    place = {"place": str(node.place), "text": node.place.text} if places and node.place else {}
    return {"name": own.pop("name"), "type": node.type_name, "kind": node.kind.value, **own, **place}


def _fields(value: Any) -> dict[str, Any]:
    named = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {name: _data(item) for name, item in named if item is not None and not _is_empty(item)}


def _data(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case Serde():
            return value.to_json()
        case StoreSpec():
            return value.name
        case tuple() | list():
            return [_data(item) for item in value]
        case _ if callable(value):
            return {"function": function_name(value), "arguments": function_arguments(value)}
        case _ if is_dataclass(value):
            return {"type": type(value).__name__, **_fields(value)}
        case _:
            return repr(value)


def _is_empty(value: Any) -> bool:
    # Not `value == ()`: a literal may be a Spark Column, whose comparison is another Column.
    return isinstance(value, tuple) and not value
