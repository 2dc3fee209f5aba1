"""KStream: an endless sequence of independent records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Unpack

from tidemill.dsl import grouped, ktable
from tidemill.dsl.processing import connected_stores, processor_name
from tidemill.dsl.stateless import StatelessVerbs
from tidemill.dsl.stream_joins import StreamJoins
from tidemill.serde.base import Serde
from tidemill.topology import StoreSpec
from tidemill.topology.draft import Step
from tidemill.topology.functions import KEY_VALUE, arguments, check_partitioner
from tidemill.topology.nodes import GroupBy, Process, ProcessValues, Repartition, Sink, ToTable
from tidemill.topology.stores import StoreOptions, check_serde, materialized

Function = Callable[..., Any]


class KStream(StatelessVerbs, StreamJoins):
    """A stream of records. Every verb returns a new object and leaves this one as it is.

    >>> from tidemill import StreamsBuilder, serdes
    >>> builder = StreamsBuilder()
    >>> numbers = builder.stream("numbers", key=serdes.string, value=serdes.long)
    >>> numbers.filter(lambda value: value > 3).to("large")
    >>> print(builder.build().describe())
    Topologies:
       Sub-topology: 0
        Source: stream-of-numbers (topics: [numbers])
          --> filter-of-numbers
        Processor: filter-of-numbers (stores: [])
          --> to-large
          <-- stream-of-numbers
        Sink: to-large (topic: large)
          <-- filter-of-numbers
    <BLANKLINE>
    """

    __slots__ = ()

    def group_by_key(
        self, *, key: Serde | None = None, value: Serde | None = None, name: str | None = None
    ) -> grouped.KGroupedStream:
        """Group by the key the records have; `name` stands for the group in derived names.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").group_by_key().count()
        <KTable count-of-orders>
        """
        flow = self._flow.regrouped(check_serde("key", key), check_serde("value", value), name)
        return grouped.KGroupedStream(self._draft, self._node, flow)

    def group_by(
        self,
        mapper: Function,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        name: str | None = None,
    ) -> grouped.KGroupedStream:
        """Group by a new key, the result of a function of (key, value).

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").group_by(lambda key, value: value.city, name="by-city").count()
        <KTable count-of-by-city>
        """
        arguments("group_by", mapper, KEY_VALUE)
        step = self._at("group_by", name)
        node = GroupBy(**step, fn=mapper, key=check_serde("key", key), value=check_serde("value", value))
        flow = self._flow.new_key(key).regrouped(key, value, name)
        return grouped.KGroupedStream(self._draft, self._draft.add(node), flow)

    def to_table(
        self, *, store: str | None = None, name: str | None = None, **options: Unpack[StoreOptions]
    ) -> ktable.KTable:
        """Read the stream as a table: the last value of each key; a null value deletes.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("addresses").to_table(store="latest-address")
        <KTable to-table-latest-address>
        """
        step = self._stored("to_table", name, store)
        spec = materialized(step["name"], store, options, key=self._flow.key, value=self._flow.value)
        return self._table(ToTable(**step, store=spec, key=self._flow.key, value=self._flow.value))

    def repartition(
        self,
        *,
        name: str | None = None,
        partitions: int | None = None,
        key: Serde | None = None,
        value: Serde | None = None,
        partitioner: Function | None = None,
    ) -> KStream:
        """Bring equal keys together, in Spark's shuffle; records without a key are left out.

        There is no topic in between, so `partitions` and `partitioner` are refused when the topology is
        built: where they matter, write a topic with `to` and read it with `stream`.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").repartition(name="spread")
        <KStream spread>
        """
        check_partitioner("repartition", partitioner)
        step = self._at("repartition", name, durable=True)
        flow = self._flow.regrouped(check_serde("key", key), check_serde("value", value), None)
        node = Repartition(
            **step, partitions=partitions, key=flow.key, value=flow.value, partitioner=partitioner
        )
        return self._stream(node, flow)

    def to(
        self,
        topic: str | Function,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        partitioner: Function | None = None,
        name: str | None = None,
    ) -> None:
        """Write the records to a topic, or to the topic a function of (key, value) names for each.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().stream("orders").to(lambda key, value: value.country)
        """
        check_partitioner("to", partitioner)
        chooser = None if isinstance(topic, str) else topic
        if chooser is not None:
            arguments("to", chooser, KEY_VALUE)
        fixed = topic if isinstance(topic, str) else None
        self._draft.add(
            Sink(
                **self._sink_step(fixed, name),
                topic=fixed,
                chooser=chooser,
                key=check_serde("key", key) or self._flow.key,
                value=check_serde("value", value) or self._flow.value,
                partitioner=partitioner,
            )
        )

    def process(
        self,
        supplier: Function | str,
        *,
        stores: Iterable[str | StoreSpec] = (),
        key: Serde | None = None,
        value: Serde | None = None,
        name: str | None = None,
    ) -> KStream:
        """Hand each record to a processor of your own: a class, a function that makes one, or a JVM class.

        `key` and `value` are the serdes of what it forwards.

        >>> from tidemill import StreamsBuilder, Processor, serdes, state_store
        >>> class Totals(Processor):
        ...     stores = (state_store("totals", key=serdes.string, value=serdes.long),)
        >>> StreamsBuilder().stream("orders").process(Totals)
        <KStream totals-of-orders>
        """
        step = self._at(processor_name("process", supplier), name, durable=True)
        node = Process(
            **step, supplier=supplier, key=check_serde("key", key), value=check_serde("value", value)
        )
        self._draft.connect(node.name, (*connected_stores(supplier), *stores))
        return self._stream(node, self._flow.new_key(key).new_value(value))

    def process_values(
        self,
        supplier: Function | str,
        *,
        stores: Iterable[str | StoreSpec] = (),
        value: Serde | None = None,
        name: str | None = None,
    ) -> KStream:
        """As `process`, for a processor that keeps the key, so that nothing is shuffled afterwards.

        >>> from tidemill import StreamsBuilder, FixedKeyProcessor
        >>> class Clean(FixedKeyProcessor): ...
        >>> StreamsBuilder().stream("orders").process_values(Clean, name="cleaned")
        <KStream cleaned>
        """
        step = self._at(processor_name("process_values", supplier), name, durable=True)
        node = ProcessValues(**step, supplier=supplier, key=self._flow.key, value=check_serde("value", value))
        self._draft.connect(node.name, (*connected_stores(supplier), *stores))
        return self._stream(node, self._flow.new_value(value))

    def _sink_step(self, topic: str | None, name: str | None) -> Step:
        return self._at("to", name) if topic is None else self._draft.worded(self._node, f"to-{topic}", name)
