"""StreamsBuilder: where a topology begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Unpack

from tidemill.dsl.global_ktable import GlobalKTable
from tidemill.dsl.kstream import KStream
from tidemill.dsl.ktable import KTable
from tidemill.dsl.sources import Reset, Timestamp, Topics, extractor, offset_reset_of, topics_of
from tidemill.serde.base import Serde
from tidemill.topology import StoreSpec, Topology
from tidemill.topology.draft import Draft, Flow
from tidemill.topology.nodes import GlobalStore, GlobalTableSource, StreamSource, TableSource
from tidemill.topology.stores import StoreOptions, check_serde, materialized


class StreamsBuilder:
    """Declares streams and tables; `build` makes the topology of them.

    >>> from tidemill import serdes
    >>> builder = StreamsBuilder()
    >>> lines = builder.stream("lines", value=serdes.string)
    >>> words = lines.flat_map_values(lambda value: F.split(value, " "))
    >>> counts = words.group_by(lambda key, value: value, name="by-word").count(store="counts")
    >>> counts.to_stream().to("word-counts", key=serdes.string)
    >>> builder.build()
    Topology(6 nodes: stream-of-lines, flat-map-values-of-lines, by-word, count-counts, ...)
    """

    __slots__ = ("_draft",)

    def __init__(self) -> None:
        self._draft = Draft()

    def stream(
        self,
        topics: Topics,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        timestamp: Timestamp | None = None,
        offset_reset: Reset | None = None,
        name: str | None = None,
    ) -> KStream:
        """Read a topic, several topics, or all topics a compiled pattern matches.

        `timestamp` is a function of (value) or (key, value), or time.wall_clock(). `offset_reset` is
        "earliest", "latest", "none" or "by_duration:PT1H".

        >>> builder = StreamsBuilder()
        >>> builder.stream("orders")
        <KStream stream-of-orders>
        >>> builder.stream(["web", "shop"], timestamp=lambda value: value.at, offset_reset="latest")
        <KStream stream-of-web-and-shop>
        >>> import re
        >>> builder.stream(re.compile("eu-.*"), name="europe")
        <KStream europe>
        """
        names, pattern, words = topics_of(topics)
        step = self._draft.step("stream", (), (words,), name, durable=True, reuse=True)
        node = StreamSource(
            **step,
            topics=names,
            pattern=pattern,
            key=check_serde("key", key),
            value=check_serde("value", value),
            timestamp_extractor=extractor(timestamp),
            offset_reset=offset_reset_of(offset_reset),
        )
        flow = Flow(origin=name or words, key=key, value=value)
        return KStream(self._draft, self._draft.add_source(node), flow)

    def table(
        self,
        topic: str,
        *,
        timestamp: Timestamp | None = None,
        offset_reset: Reset | None = None,
        store: str | None = None,
        name: str | None = None,
        **options: Unpack[StoreOptions],
    ) -> KTable:
        """Read a topic as a table; with `versioned` it also answers for the past.

        >>> builder = StreamsBuilder()
        >>> builder.table("users", store="users")
        <KTable table-users>
        >>> builder.table("prices", versioned="1 hour")
        <KTable table-of-prices>
        """
        by_store = _by_store("table", name, store)
        step = self._draft.step("table", (), (topic,), by_store, durable=True, reuse=True)
        spec = materialized(step["name"], store, options)
        node = TableSource(
            **step,
            topics=(topic,),
            key=spec.key,
            value=spec.value,
            timestamp_extractor=extractor(timestamp),
            offset_reset=offset_reset_of(offset_reset),
            store=spec,
            history_retention=spec.retention if options.get("versioned") is not None else None,
        )
        flow = Flow(origin=store or name or topic, key=spec.key, value=spec.value)
        return KTable(self._draft, self._draft.add_source(node), flow)

    def global_table(
        self,
        topic: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        timestamp: Timestamp | None = None,
        store: str | None = None,
        name: str | None = None,
    ) -> GlobalKTable:
        """Read a topic as a table that every worker holds whole.

        >>> StreamsBuilder().global_table("countries")
        <GlobalKTable global-table-of-countries>
        """
        by_store = _by_store("global_table", name, store)
        step = self._draft.step("global_table", (), (topic,), by_store, durable=True, reuse=True)
        spec = replace(materialized(step["name"], store, {}, key=key, value=value), logging=False)
        node = GlobalTableSource(
            **step,
            topics=(topic,),
            key=key,
            value=value,
            timestamp_extractor=extractor(timestamp),
            store=spec,
        )
        flow = Flow(origin=store or name or topic, key=key, value=value)
        return GlobalKTable(self._draft, self._draft.add_source(node), flow)

    def add_state_store(self, store: StoreSpec) -> StreamsBuilder:
        """Declare a store that processors share by name.

        >>> from tidemill import Processor, state_store
        >>> builder = StreamsBuilder().add_state_store(state_store("seen"))
        >>> builder.stream("orders").process(Processor, stores=["seen"])
        <KStream processor-of-orders>
        """
        self._draft.declare(store)
        return self

    def add_global_store(
        self,
        store: StoreSpec,
        topic: str,
        supplier: Callable[..., Any] | None = None,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        timestamp: Timestamp | None = None,
        name: str | None = None,
    ) -> StreamsBuilder:
        """A store every worker holds whole, kept from a topic by your processor, or as the topic is.

        >>> from tidemill import state_store
        >>> StreamsBuilder().add_global_store(state_store("rates"), "rates").build().stores["rates"].logging
        False
        """
        by_store = _by_store("global_store", name, store.name)
        step = self._draft.step("global_store", (), (topic,), by_store, durable=True)
        self._draft.add(
            GlobalStore(
                **step,
                topics=(topic,),
                key=check_serde("key", key) or store.key,
                value=check_serde("value", value) or store.value,
                timestamp_extractor=extractor(timestamp),
                store=replace(store, logging=False),
                supplier=supplier,
            )
        )
        return self

    def build(self, *, explicit_names: bool = False) -> Topology:
        """The topology, checked. `explicit_names` refuses stores and internal topics with derived names.

        >>> builder = StreamsBuilder()
        >>> builder.stream("orders").to("copy")
        >>> builder.build().sink_topics
        ('copy',)
        """
        return self._draft.build(explicit_names=explicit_names)


def _by_store(verb: str, name: str | None, store: str | None) -> str | None:
    return f"{verb.replace('_', '-')}-{store}" if name is None and store is not None else name
