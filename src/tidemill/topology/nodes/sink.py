"""Sinks: where records leave the topology."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from tidemill.serde.base import Serde
from tidemill.topology.nodes.base import Function, Kind, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink(Node):
    """Writes each record to `topic`, or to the topic that `chooser(key, value)` names for it.

    A serde that is None is chosen by the engine from the type. `partitioner(key, value, partitions)` returns
    a partition, an array of them (an empty one drops the record), or null for the default.
    """

    kind: ClassVar[Kind] = Kind.NOTHING

    topic: str | None
    chooser: Function | None = field(default=None, compare=False)
    key: Serde | None = None
    value: Serde | None = None
    partitioner: Function | None = field(default=None, compare=False)
