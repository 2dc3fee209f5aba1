"""The topology itself: nodes by name, and what can be asked of their graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tidemill.topology.describe import describe
from tidemill.topology.errors import TopologyError
from tidemill.topology.mermaid import mermaid
from tidemill.topology.names import changelog_topic, repartition_topic
from tidemill.topology.nodes import (
    GlobalStore,
    GlobalTableSource,
    Node,
    Repartition,
    Sink,
    StoreSpec,
    TopicSource,
)
from tidemill.topology.nodes.processor import Process
from tidemill.topology.nodes.table import TransformValues
from tidemill.topology.partitioning import Shuffle, SubTopology, shuffles, sub_topologies
from tidemill.topology.plan import plan


@dataclass(frozen=True, eq=True, repr=False)
class Topology:
    """What a program does: frozen nodes in the order they were declared.

    >>> from tidemill.topology.nodes import StreamSource
    >>> topology = Topology.of([StreamSource(name="numbers", topics=("numbers",)),
    ...                         Sink(name="out", parents=("numbers",), topic="copy")])
    >>> topology
    Topology(2 nodes: numbers, out)
    """

    nodes: Mapping[str, Node]

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Topology:
        """A topology of these nodes; two of one name are refused."""
        by_name: dict[str, Node] = {}
        for node in nodes:
            if node.name in by_name:
                raise TopologyError(
                    f"two nodes have the name `{node.name}`",
                    node=node.name,
                    place=node.place,
                    remedy="give one of them another name=",
                )
            by_name[node.name] = node
        return cls(MappingProxyType(by_name))

    def __repr__(self) -> str:
        return f"Topology({len(self.nodes)} nodes: {', '.join(self.nodes)})"

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes.values())

    def __len__(self) -> int:
        return len(self.nodes)

    def __hash__(self) -> int:
        return hash(tuple(self.nodes))

    def parents(self, name: str) -> tuple[Node, ...]:
        """The nodes that feed a node, left side first."""
        return tuple(self.nodes[parent] for parent in self.nodes[name].parents)

    def children(self, name: str) -> tuple[Node, ...]:
        """The nodes a node feeds, in the order they were declared."""
        return tuple(node for node in self if name in node.parents)

    def ancestors(self, name: str) -> tuple[Node, ...]:
        """All nodes upstream of a node, sources first."""
        found: set[str] = set()
        waiting = list(self.nodes[name].parents)
        while waiting:
            parent = waiting.pop()
            if parent not in found:
                found.add(parent)
                waiting.extend(self.nodes[parent].parents)
        return tuple(node for node in self.in_order() if node.name in found)

    def in_order(self) -> tuple[Node, ...]:
        """All nodes, each after its parents; a cycle is refused."""
        done: dict[str, Node] = {}
        waiting = list(self.nodes.values())
        while waiting:
            ready = [node for node in waiting if all(parent in done for parent in node.parents)]
            if not ready:
                names = ", ".join(f"`{node.name}`" for node in waiting)
                raise TopologyError(
                    f"the nodes {names} wait for each other: a topology has no cycles",
                    node=waiting[0].name,
                    place=waiting[0].place,
                    remedy="send the records back through a topic of their own",
                )
            # One at a time, so that the order stays as close to the declared one as it can.
            done[ready[0].name] = ready[0]
            waiting.remove(ready[0])
        return tuple(done.values())

    @property
    def sources(self) -> tuple[TopicSource, ...]:
        """The nodes that read topics."""
        return tuple(node for node in self if isinstance(node, TopicSource))

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """The nodes that write topics."""
        return tuple(node for node in self if isinstance(node, Sink))

    @property
    def stores(self) -> Mapping[str, StoreSpec]:
        """All stores by name."""
        return MappingProxyType({store.name: store for node in self for store in node.owned_stores})

    def store_owner(self, store: str) -> Node:
        """The node that keeps a store (the first one where processors share it)."""
        return next(node for node in self if any(spec.name == store for spec in node.owned_stores))

    def stores_of(self, name: str) -> tuple[StoreSpec, ...]:
        """The stores a node keeps or is connected to."""
        node = self.nodes[name]
        connected = node.stores if isinstance(node, Process | TransformValues) else ()
        return tuple({store.name: store for store in (*node.owned_stores, *connected)}.values())

    @property
    def source_topics(self) -> tuple[str, ...]:
        """The topics read, without repetition."""
        return tuple(dict.fromkeys(topic for source in self.sources for topic in source.topics))

    @property
    def sink_topics(self) -> tuple[str, ...]:
        """The topics written by name, without repetition."""
        return tuple(dict.fromkeys(sink.topic for sink in self.sinks if sink.topic is not None))

    def internal_topics(self, application_id: str) -> tuple[str, ...]:
        """The topics the topology itself calls for: changelogs of its stores and explicit repartitions."""
        logged = (name for name, store in self.stores.items() if store.logging)
        sent = (node.name for node in self if isinstance(node, Repartition))
        return (
            *(changelog_topic(application_id, name) for name in logged),
            *(repartition_topic(application_id, name) for name in sent),
        )

    @property
    def global_sources(self) -> tuple[TopicSource, ...]:
        """The sources of which every worker holds the whole."""
        return tuple(node for node in self.sources if isinstance(node, GlobalTableSource | GlobalStore))

    def shuffles(self) -> tuple[Shuffle, ...]:
        """The edges on which records change their partition."""
        return shuffles(self)

    def sub_topologies(self) -> tuple[SubTopology, ...]:
        """The parts between which records change their partition."""
        return sub_topologies(self)

    def describe(self) -> str:
        """The topology in Kafka Streams' text form."""
        return describe(self)

    def to_json(self, *, places: bool = False) -> dict[str, Any]:
        """The plan as plain data that fits into JSON; with `places` each node names the user's line."""
        return plan(self, places=places)

    def to_mermaid(self) -> str:
        """The topology as a Mermaid flow chart."""
        return mermaid(self)
