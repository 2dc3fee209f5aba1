"""The topology while it is being declared: nodes so far, names given out, stores promised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

from tidemill.place import Place, here
from tidemill.serde.base import Serde
from tidemill.topology.errors import TopologyError
from tidemill.topology.graph import Topology
from tidemill.topology.names import derived
from tidemill.topology.nodes import Node, Process, Repartition, StoreSpec, TransformValues
from tidemill.topology.validation import validate
from tidemill.windows import Windows


class Step(TypedDict):
    """What every node gets from the place it is declared at."""

    name: str
    parents: tuple[str, ...]
    place: Place | None


@dataclass(frozen=True, slots=True)
class Flow:
    """What is known of the records at a point: the words they come from, their serdes and window."""

    origin: str
    key: Serde | None = None
    value: Serde | None = None
    window: Windows | None = None

    def new_value(self, value: Serde | None = None) -> Flow:
        """The same keys with other values."""
        return replace(self, value=value)

    def new_key(self, key: Serde | None = None) -> Flow:
        """The same values under other keys, which have no window."""
        return replace(self, key=key, window=None)

    def regrouped(self, key: Serde | None, value: Serde | None, name: str | None) -> Flow:
        """The same records with what the user said of them: serdes, and a word for the group."""
        return replace(self, key=key or self.key, value=value or self.value, origin=name or self.origin)

    def aggregated(self, key: Serde | None, store: StoreSpec, window: Windows | None) -> Flow:
        """The rows of an aggregation."""
        return replace(self, key=key, value=store.value, window=window)

    def merged(self, others: Iterable[Flow]) -> Flow:
        """What still holds when other records come in beside these."""
        flow = self
        for other in others:
            flow = Flow(
                origin=f"{flow.origin}-and-{other.origin}",
                key=flow.key if flow.key == other.key else None,
                value=flow.value if flow.value == other.value else None,
                window=flow.window if flow.window == other.window else None,
            )
        return flow


@dataclass(slots=True)
class Draft:
    """Nodes in the order they are declared. Only `build` makes a topology of them."""

    nodes: dict[str, Node] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    state_stores: dict[str, StoreSpec] = field(default_factory=dict)
    store_places: dict[str, Place | None] = field(default_factory=dict)
    connections: dict[str, list[str]] = field(default_factory=dict)

    def step(
        self,
        verb: str,
        parents: Sequence[str],
        origins: Iterable[str],
        name: str | None,
        *,
        durable: bool,
        reuse: bool = False,
    ) -> Step:
        """Name, parents and place of a node.

        A durable name is never made unique by a number; with `reuse` the name may be taken by an equal node.
        """
        place = here()
        chosen = name if name is not None else self._free(derived(verb, origins), durable)
        if name is not None:
            self.given.add(name)
        if chosen in self.nodes and not reuse:
            raise self._taken(chosen, name is not None, place)
        return Step(name=chosen, parents=tuple(parents), place=place)

    def worded(self, parent: str, words: str, name: str | None) -> Step:
        """As `step` for a stateless node with words of its own: a sink's topic, a branch's name."""
        if name is not None:
            return self.step(words, (parent,), (), name, durable=False)
        return Step(name=self._free(words, durable=False), parents=(parent,), place=here())

    def add(self, node: Node) -> str:
        """Take a node in; its name."""
        self.nodes[node.name] = node
        return node.name

    def add_source(self, node: Node) -> str:
        """Take a source in; one that is declared twice alike is one node."""
        known = self.nodes.get(node.name)
        if known is not None and known != node:
            raise TopologyError(
                f"`{node.name}` is read twice and not alike (the other: {known.place})",
                node=node.name,
                place=node.place,
                remedy="read it once and use the stream twice, or give both the same serdes and options",
            )
        return self.add(node) if known is None else node.name

    def declare(self, store: StoreSpec) -> None:
        """Promise a store for processors; the same declaration may come twice."""
        known = self.state_stores.setdefault(store.name, store)
        self.store_places.setdefault(store.name, here())
        if known != store:
            raise TopologyError(
                f"the store `{store.name}` is declared twice and not alike",
                place=here(),
                remedy="declare it once and share it by name",
            )

    def connect(self, node: str, stores: Iterable[str | StoreSpec]) -> None:
        """Let a processor use stores; a store given as a declaration is declared at once."""
        for store in stores:
            if isinstance(store, StoreSpec):
                self.declare(store)
            name = store.name if isinstance(store, StoreSpec) else store
            self.connections.setdefault(node, []).append(name)

    def build(self, *, explicit_names: bool = False) -> Topology:
        """The topology, checked; `explicit_names` refuses state and topics named by Tidemill."""
        self._refuse_unconnected()
        topology = validate(Topology.of(self._connected(node) for node in self.nodes.values()))
        if explicit_names:
            self._refuse_derived(topology)
        return topology

    def _free(self, name: str, durable: bool) -> str:
        if durable or name not in self.nodes:
            return name
        return next(numbered for n in range(2, 10_000) if (numbered := f"{name}-{n}") not in self.nodes)

    def _taken(self, name: str, is_given: bool, place: Place | None) -> TopologyError:
        other = self.nodes[name].place
        where = "" if other is None else f" (the other: {other})"
        if is_given:
            return TopologyError(
                f"two nodes are named `{name}`{where}",
                node=name,
                place=place,
                remedy="give one another name=",
            )
        return TopologyError(
            f"two steps that keep state would both be named `{name}`{where}",
            node=name,
            place=place,
            remedy="give one of them store= or name=: a number would move when a line is inserted, "
            "and state with it",
        )

    def _connected(self, node: Node) -> Node:
        names = dict.fromkeys(self.connections.get(node.name, ()))
        if not names or not isinstance(node, Process | TransformValues):
            return node
        stores = tuple(self._store(name, node) for name in names)
        return replace(node, stores=stores, owned=tuple(n for n in names if n in self.state_stores))

    def _store(self, name: str, user: Node) -> StoreSpec:
        owned = {store.name: store for node in self.nodes.values() for store in node.owned_stores}
        known = {**owned, **self.state_stores}
        if name not in known:
            raise TopologyError(
                f"`{user.name}` uses the store `{name}`, which does not exist",
                node=user.name,
                place=user.place,
                remedy=f"declare it with add_state_store(); there are: {', '.join(known) or 'none'}",
            )
        return known[name]

    def _refuse_unconnected(self) -> None:
        used = {name for names in self.connections.values() for name in names}
        for name in sorted(self.state_stores.keys() - used):
            raise TopologyError(
                f"no processor uses the store `{name}`",
                place=self.store_places[name],
                remedy=f'name it where it is used: .process(..., stores=["{name}"])',
            )

    def _refuse_derived(self, topology: Topology) -> None:
        for node in topology:
            named_by_store = any(store.queryable for store in node.owned_stores)
            internal = node.stateful or isinstance(node, Repartition)
            if internal and node.name not in self.given and not named_by_store:
                raise TopologyError(
                    f"`{node.name}` keeps state or a topic under a derived name",
                    node=node.name,
                    place=node.place,
                    remedy="give it name= or store=, or build without explicit_names",
                )
