"""TopologyBuilder: the low-level way to a topology, node by node and by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

from tidemill.dsl.processing import connected_stores, processor_name
from tidemill.dsl.sources import Reset, Timestamp, Topics, extractor, offset_reset_of, topics_of
from tidemill.place import here
from tidemill.serde.base import Serde
from tidemill.topology import StoreSpec, Topology, TopologyError
from tidemill.topology.draft import Draft
from tidemill.topology.functions import KEY_VALUE, arguments, check_partitioner
from tidemill.topology.nodes import GlobalStore, Process, ReadOnlyStore, Sink, StreamSource, TransformValues
from tidemill.topology.stores import check_serde

Function = Callable[..., Any]


class TopologyBuilder:
    """Sources, processors and sinks, each named by the user and connected by name.

    >>> from tidemill import Processor, state_store
    >>> builder = TopologyBuilder()
    >>> _ = builder.add_source("in", "orders").add_processor("clean", Processor, "in")
    >>> _ = builder.add_state_store(state_store("seen"), "clean").add_sink("out", "clean-orders", "clean")
    >>> print(builder.build().describe())
    Topologies:
       Sub-topology: 0
        Source: in (topics: [orders])
          --> clean
        Processor: clean (stores: [seen])
          --> out
          <-- in
        Sink: out (topic: clean-orders)
          <-- clean
    <BLANKLINE>
    """

    __slots__ = ("_draft",)

    def __init__(self) -> None:
        self._draft = Draft()

    def add_source(
        self,
        name: str,
        topics: Topics,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        timestamp: Timestamp | None = None,
        offset_reset: Reset | None = None,
    ) -> Self:
        """Read a topic, several topics or a pattern.

        >>> TopologyBuilder().add_source("in", ["web", "shop"]).build().source_topics
        ('web', 'shop')
        """
        names, pattern, _ = topics_of(topics)
        step = self._draft.step("source", (), (), name, durable=True)
        self._draft.add(
            StreamSource(
                **step,
                topics=names,
                pattern=pattern,
                key=check_serde("key", key),
                value=check_serde("value", value),
                timestamp_extractor=extractor(timestamp),
                offset_reset=offset_reset_of(offset_reset),
            )
        )
        return self

    def add_processor(
        self,
        name: str,
        supplier: Function | str,
        *parents: str,
        key: Serde | None = None,
        value: Serde | None = None,
    ) -> Self:
        """Hand the records of the parents to a processor of your own.

        >>> from tidemill import Processor
        >>> TopologyBuilder().add_source("in", "orders").add_processor("clean", Processor, "in").build()
        Topology(2 nodes: in, clean)
        """
        processor_name("add_processor", supplier)
        step = self._draft.step("processor", parents, (), name, durable=True)
        self._draft.add(
            Process(**step, supplier=supplier, key=check_serde("key", key), value=check_serde("value", value))
        )
        self._draft.connect(name, connected_stores(supplier))
        return self

    def add_sink(
        self,
        name: str,
        topic: str | Function,
        *parents: str,
        key: Serde | None = None,
        value: Serde | None = None,
        partitioner: Function | None = None,
    ) -> Self:
        """Write the records of the parents to a topic, or to the one a function of (key, value) names.

        >>> TopologyBuilder().add_source("in", "orders").add_sink("out", "copy", "in").build().sink_topics
        ('copy',)
        """
        if not isinstance(topic, str):
            arguments("add_sink", topic, KEY_VALUE)
        check_partitioner("add_sink", partitioner)
        self._draft.add(
            Sink(
                **self._draft.step("sink", parents, (), name, durable=True),
                topic=topic if isinstance(topic, str) else None,
                chooser=None if isinstance(topic, str) else topic,
                key=check_serde("key", key),
                value=check_serde("value", value),
                partitioner=partitioner,
            )
        )
        return self

    def add_state_store(self, store: StoreSpec, *processors: str) -> Self:
        """Declare a store and let processors use it.

        >>> from tidemill import Processor, state_store
        >>> builder = TopologyBuilder().add_source("in", "orders").add_processor("clean", Processor, "in")
        >>> list(builder.add_state_store(state_store("seen"), "clean").build().stores)
        ['seen']
        """
        self._draft.declare(store)
        for processor in processors:
            self.connect_processor_and_state_stores(processor, store.name)
        return self

    def connect_processor_and_state_stores(self, processor: str, *stores: str) -> Self:
        """Let a processor use stores that are declared elsewhere.

        >>> from tidemill import Processor, state_store
        >>> builder = TopologyBuilder().add_source("in", "orders").add_processor("clean", Processor, "in")
        >>> _ = builder.add_state_store(state_store("seen"))
        >>> builder.connect_processor_and_state_stores("clean", "seen").build().stores_of("clean")[0].name
        'seen'
        """
        if not isinstance(self._draft.nodes.get(processor), Process | TransformValues):
            raise TopologyError(
                f"there is no processor `{processor}` to connect",
                node=processor,
                place=here(),
                remedy="add the processor before its stores",
            )
        self._draft.connect(processor, stores)
        return self

    def add_global_store(
        self,
        name: str,
        store: StoreSpec,
        topic: str,
        supplier: Function | None = None,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        timestamp: Timestamp | None = None,
    ) -> Self:
        """A store every worker holds whole, kept from a topic by your processor, or as the topic is.

        >>> from tidemill import state_store
        >>> TopologyBuilder().add_global_store("rates", state_store("rates"), "rates").build()
        Topology(1 nodes: rates)
        """
        return self._fed_store(GlobalStore, name, store, topic, supplier, key, value, timestamp)

    def add_read_only_state_store(
        self,
        name: str,
        store: StoreSpec,
        topic: str,
        supplier: Function | None = None,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        timestamp: Timestamp | None = None,
    ) -> Self:
        """A partitioned store kept from a topic, which is its changelog.

        >>> from tidemill import state_store
        >>> topology = TopologyBuilder().add_read_only_state_store("s", state_store("seen"), "seen").build()
        >>> topology.stores["seen"].logging
        False
        """
        return self._fed_store(ReadOnlyStore, name, store, topic, supplier, key, value, timestamp)

    def build(self) -> Topology:
        """The topology, checked.

        >>> TopologyBuilder().add_source("in", "orders").build()
        Topology(1 nodes: in)
        """
        return self._draft.build()

    def _fed_store(
        self,
        kind: type[GlobalStore],
        name: str,
        store: StoreSpec,
        topic: str,
        supplier: Function | None,
        key: Serde | None,
        value: Serde | None,
        timestamp: Timestamp | None,
    ) -> Self:
        self._draft.add(
            kind(
                **self._draft.step("store", (), (), name, durable=True),
                topics=(topic,),
                key=check_serde("key", key) or store.key,
                value=check_serde("value", value) or store.value,
                timestamp_extractor=extractor(timestamp),
                store=replace(store, logging=False),
                supplier=supplier,
            )
        )
        return self
