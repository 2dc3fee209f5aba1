"""Processors: suppliers, stores and the low-level builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidemill import (
    FixedKeyProcessor,
    Processor,
    Record,
    StreamsBuilder,
    TopologyBuilder,
    TopologyError,
    ValueTransformer,
    serdes,
    state_store,
)
from tidemill.topology import StoreKind
from tidemill.topology.nodes import GlobalStore, Process, ProcessValues, ReadOnlyStore

Of = Callable[[Any], Any]


class Totals(Processor):
    stores = (state_store("totals", key=serdes.string, value=serdes.long),)


class Clean(FixedKeyProcessor):
    pass


def test_processor_brings_its_stores(builder: StreamsBuilder, node: Of) -> None:
    made = node(builder.stream("orders").process(Totals, value=serdes.long))
    assert isinstance(made, Process)
    assert (made.supplier, made.stores, made.owned) == (Totals, Totals.stores, ("totals",))
    assert made.changes_key


def test_process_values_keeps_the_key(builder: StreamsBuilder, node: Of) -> None:
    made = node(builder.stream("orders", key=serdes.string).process_values(Clean))
    assert isinstance(made, ProcessValues)
    assert (made.changes_key, made.key) == (False, serdes.string)


def test_store_is_shared_by_name(builder: StreamsBuilder) -> None:
    builder.add_state_store(state_store("seen"))
    orders = builder.stream("orders")
    orders.process(Clean, stores=["seen"], name="first").process(Clean, stores=["seen"], name="second")
    topology = builder.build()
    assert list(topology.stores) == ["seen"]
    assert topology.store_owner("seen").name == "first"


def test_processor_may_read_the_store_of_a_table(builder: StreamsBuilder, node: Of) -> None:
    builder.table("users", store="users")
    made = node(builder.stream("orders").process(Clean, stores=["users"]))
    assert ([store.name for store in made.stores], made.owned) == (["users"], ())


def test_jvm_class_by_name(builder: StreamsBuilder, node: Of) -> None:
    made = node(builder.stream("orders").process("io.example.RunningTotal"))
    assert (made.name, made.supplier) == ("running-total-of-orders", "io.example.RunningTotal")


def test_function_as_supplier(builder: StreamsBuilder, node: Of) -> None:
    assert node(builder.stream("orders").process(lambda: Totals())).name == "process-of-orders"


def test_stores_of_the_wrong_form_are_told(builder: StreamsBuilder) -> None:
    class Wrong(Processor):
        stores = ("totals",)  # type: ignore[assignment]

    with pytest.raises(TopologyError, match="the stores of Wrong"):
        builder.stream("orders").process(Wrong)


def test_global_store(builder: StreamsBuilder) -> None:
    builder.add_global_store(state_store("rates", key=serdes.string), "rates", Totals)
    (made,) = builder.build()
    assert isinstance(made, GlobalStore)
    assert (made.topic, made.key, made.store.logging) == ("rates", serdes.string, False)


def test_store_kinds() -> None:
    assert state_store("s", kind="window", retention="1 h").kind is StoreKind.WINDOW
    assert state_store("s", kind="versioned", retention="1 h").retention == 3_600_000


def test_low_level_topology() -> None:
    builder = TopologyBuilder()
    builder.add_source("in", "orders").add_processor("p", Totals, "in").add_sink("out", "copy", "p", "in")
    builder.add_read_only_state_store("r", state_store("names"), "names")
    topology = builder.build()
    assert isinstance(topology["r"], ReadOnlyStore)
    assert topology["out"].parents == ("p", "in")
    assert topology.stores_of("p") == Totals.stores


def test_record_is_changed_by_making_another() -> None:
    record = Record("k", 1, 5, [("a", b"x")])
    changed = record.with_key("j").with_value(2).with_timestamp(6).with_headers(())
    assert (changed, record.key) == (Record("j", 2, 6), "k")


class Context:
    def __init__(self) -> None:
        self.forwarded: list[Record] = []

    def forward(self, record: Record, child: str | None = None) -> None:
        self.forwarded.append(record)


def test_bases_do_the_plain_thing() -> None:
    context, processor = Context(), Processor()
    processor.init(context)  # type: ignore[arg-type]
    processor.process(Record("k", 1, 5))
    processor.close()
    assert context.forwarded == [Record("k", 1, 5)]
    assert ValueTransformer().transform("k", 7) == 7
