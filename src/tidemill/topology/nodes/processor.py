"""The user's own processors in Python, and the stores they bring."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from tidemill.serde.base import Serde
from tidemill.topology.nodes.base import Function, Kind, Node, StoreSpec
from tidemill.topology.nodes.source import TopicSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Process(Node):
    """Hands each record to an object made by `supplier`, which may forward any number of records.

    `supplier` is a class, a function without arguments, or the name of a JVM class. `stores` are all stores
    the processor may use; `owned` names those declared for processors (the others belong to a table or an
    aggregation). `key` and `value` are the serdes of what it forwards.
    """

    changes_key: ClassVar[bool] = True
    stateful: ClassVar[bool] = True

    supplier: Function | str = field(compare=False)
    stores: tuple[StoreSpec, ...] = ()
    owned: tuple[str, ...] = ()
    key: Serde | None = None
    value: Serde | None = None

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores declared for processors that this one uses."""
        yield from (store for store in self.stores if store.name in self.owned)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessValues(Process):
    """As Process, but the key stays, so that nothing is shuffled afterwards."""

    changes_key: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalStore(TopicSource):
    """A store every worker holds whole, kept from a topic by the user's processor, or as the topic is."""

    kind: ClassVar[Kind] = Kind.NOTHING
    stateful: ClassVar[bool] = True

    store: StoreSpec
    supplier: Function | None = field(default=None, compare=False)

    @property
    def topic(self) -> str:
        """The topic that feeds the store."""
        return self.topics[0]

    @property
    def owned_stores(self) -> Iterator[StoreSpec]:
        """The stores this node keeps."""
        yield self.store


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOnlyStore(GlobalStore):
    """A partitioned store kept from a topic; the topic is its changelog."""
