"""What all objects of the DSL share: they stand for one node of a draft."""

from __future__ import annotations

from dataclasses import replace

from tidemill.dsl import kstream, ktable
from tidemill.place import here
from tidemill.topology import Node, TopologyError
from tidemill.topology.draft import Draft, Flow, Step
from tidemill.windows import Windows


class Handle:
    """A point of the topology that verbs are called on. It holds no data, only where it is."""

    __slots__ = ("_draft", "_flow", "_node")

    def __init__(self, draft: Draft, node: str, flow: Flow) -> None:
        self._draft = draft
        self._node = node
        self._flow = flow

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._node}>"

    @property
    def name(self) -> str:
        """The name of the node this object stands for.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").name
        'stream-of-orders'
        """
        return self._node

    def _at(
        self,
        verb: str,
        name: str | None,
        *others: Handle,
        durable: bool = False,
        window: Windows | None = None,
    ) -> Step:
        for other in others:
            self._same_builder(verb, other)
        sides = (self, *others)
        origins = [side._flow.origin for side in sides]
        if window is not None:
            origins[-1] = f"{origins[-1]}-{window.word}"
        return self._draft.step(verb, [side._node for side in sides], origins, name, durable=durable)

    def _stored(
        self,
        verb: str,
        name: str | None,
        store: str | None,
        *others: Handle,
        window: Windows | None = None,
    ) -> Step:
        """As `_at` for a step with a store: a store the user named also names the step."""
        by_store = f"{verb.replace('_', '-')}-{store}" if name is None and store is not None else name
        return self._at(verb, by_store, *others, durable=True, window=window)

    def _stream(self, node: Node, flow: Flow | None = None) -> kstream.KStream:
        return kstream.KStream(self._draft, self._draft.add(node), self._onward(node, flow))

    def _table(self, node: Node, flow: Flow | None = None) -> ktable.KTable:
        return ktable.KTable(self._draft, self._draft.add(node), self._onward(node, flow))

    def _onward(self, node: Node, flow: Flow | None) -> Flow:
        known = self._flow if flow is None else flow
        words = next((store.name for store in node.owned_stores if store.queryable), node.name)
        named = node.stateful or node.name in self._draft.given
        return replace(known, origin=words) if named else known

    def _same_builder(self, verb: str, other: Handle) -> None:
        if not isinstance(other, Handle):
            raise TopologyError(
                f"{verb} takes a stream or a table, not {other!r}",
                place=here(),
                remedy="make one with builder.stream() or builder.table()",
            )
        if other._draft is not self._draft:
            raise TopologyError(
                f"{verb} brings together `{self._node}` and `{other._node}` of two builders",
                node=self._node,
                place=here(),
                remedy="declare both with one StreamsBuilder",
            )
