"""Verbs that call the user's own Python, and the parts of a processor's context, run on the driver."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from tidemill import (
    FixedKeyProcessor,
    Processor,
    Record,
    StreamsBuilder,
    python_fn,
    serdes,
    state_store,
)
from tidemill.dsl import ProcessorContext
from tidemill.errors import TidemillError

if TYPE_CHECKING:
    from programs.conftest import Run

_LONGS: dict[str, Any] = {"key": serdes.string, "value": serdes.long}


def _noted(path: Path) -> Any:
    """An action that leaves a line per record: it runs in a process of Spark's."""

    def note(key: Any, value: Any) -> None:
        with path.open("a") as file:
            file.write(f"{key}={value}\n")

    return note


def test_peek_foreach_and_print_see_every_record(run: Run, tmp_path: Path) -> None:
    peeked, seen, printed = (tmp_path / name for name in ("peeked", "seen", "printed"))
    builder = StreamsBuilder()
    numbers = builder.stream("in", **_LONGS).peek(_noted(peeked))
    numbers.foreach(_noted(seen))
    numbers.print(label="numbers", file=str(printed))
    numbers.print(file=str(printed), label="doubled", mapper=lambda key, value: f"{key} twice: {value * 2}")
    numbers.to("out")
    driver = run(builder)
    source = driver.create_input_topic("in", **_LONGS)
    out = driver.create_output_topic("out", **_LONGS)
    source.pipe_input("a", 1)
    source.pipe_input(None, 2)
    assert [(r.key, r.value) for r in out.read_records()] == [("a", 1), (None, 2)]
    assert peeked.read_text() == seen.read_text() == "a=1\nNone=2\n"
    lines = printed.read_text().splitlines()
    assert [line for line in lines if line.startswith("[numbers]")] == [
        "[numbers]: a, 1",
        "[numbers]: None, 2",
    ]
    assert [line for line in lines if line.startswith("[doubled]")] == [
        "[doubled]: a twice: 2",
        "[doubled]: None twice: 4",
    ]


class Seen(Processor):
    def process(self, record: Record) -> None:
        store = self.context.state_store("seen")
        store.put(record.key, (store.get(record.key) or 0) + 1)
        self.context.forward(record)


class TimesRate(Processor):
    def process(self, record: Record) -> None:
        times = self.context.state_store("seen").get(record.key)
        rate = self.context.state_store("rates").get(record.key) or 1
        self.context.forward(record.with_value(record.value * rate + times))


class NegatedRate(Processor):
    def process(self, record: Record) -> None:
        self.context.state_store("rates").put(record.key, -record.value)


def test_stores_declared_with_the_builder(run: Run) -> None:
    builder = StreamsBuilder()
    builder.add_state_store(state_store("seen", **_LONGS))
    builder.add_global_store(state_store("rates", **_LONGS), "rates", NegatedRate)
    orders = builder.stream("in", **_LONGS)
    orders.process(Seen, stores=["seen"]).process(TimesRate, stores=["seen"]).to("out")
    driver = run(builder)
    source, rates = (driver.create_input_topic(topic, **_LONGS) for topic in ("in", "rates"))
    out = driver.create_output_topic("out", **_LONGS)
    source.pipe_input("a", 100)
    rates.pipe_input("a", 10)
    source.pipe_input("a", 100)
    assert [r.value for r in out.read_records()] == [101, -998]


class Anchored(Processor):
    """Ticks on a grid that begins at 7, and never again after the second tick.

    Counts in a store: Spark may replace a Python worker, and with it the processor.
    """

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self._ticks = context.state_store("ticks")
        if self._counted() < 2:
            self._schedule = context.schedule(10, "stream-time", self._tick, start=7)  # type: ignore[arg-type]

    def _counted(self) -> int:
        return self._ticks.get("ticks") or 0

    def process(self, record: Record) -> None:
        self.context.forward(record.with_value(0))

    def _tick(self, now: int) -> None:
        assert self.context.record_metadata() is None
        self._ticks.put("ticks", self._counted() + 1)
        self.context.forward(Record("tick", self._counted(), now))
        if self._counted() == 2:
            self._schedule.cancel()


@pytest.mark.slow
def test_schedule_with_a_start_follows_its_record_and_can_be_cancelled(run: Run) -> None:
    builder = StreamsBuilder()
    builder.add_state_store(state_store("ticks", **_LONGS))
    builder.stream("in", **_LONGS).process(Anchored, stores=["ticks"]).to("out")
    driver = run(builder)
    source = driver.create_input_topic("in", **_LONGS)
    out = driver.create_output_topic("out", **_LONGS)
    for time in (3, 8, 16, 17, 40):
        source.pipe_input("k", 1, timestamp=time)
    assert [(r.key, r.value, r.timestamp) for r in out.read_records()] == [
        ("k", 0, 3),
        ("k", 0, 8),
        ("tick", 1, 8),
        ("k", 0, 16),
        ("k", 0, 17),
        ("tick", 2, 17),
        ("k", 0, 40),
    ]


class OtherKey(FixedKeyProcessor):
    def process(self, record: Record) -> None:
        self.context.forward(record.with_key("other"))


class Unconnected(Processor):
    def process(self, record: Record) -> None:
        self.context.state_store("nowhere")


@pytest.mark.parametrize(
    ("verb", "supplier", "said"),
    [
        ("process_values", OtherKey, "forwards the key 'other' for a record of 'k'"),
        ("process", Unconnected, "is not connected to a store `nowhere`"),
    ],
    ids=["fixed key", "store"],
)
def test_what_a_processor_may_not_do(run: Run, verb: str, supplier: Any, said: str) -> None:
    builder = StreamsBuilder()
    getattr(builder.stream("in", **_LONGS), verb)(supplier, name="careful").to("out")
    source = run(builder).create_input_topic("in", **_LONGS)
    with pytest.raises(TidemillError, match=said):
        source.pipe_input("k", 1)


def test_fold_in_python_deletes_at_the_time_of_its_record(run: Run) -> None:
    def total(key: str, value: int, so_far: int) -> int | None:
        return None if value < 0 else so_far + value

    builder = StreamsBuilder()
    grouped = builder.stream("in", **_LONGS).group_by_key()
    grouped.aggregate(0, python_fn(total, returns="bigint"), store="totals").to_stream().to("out")
    driver = run(builder)
    source = driver.create_input_topic("in", **_LONGS)
    out = driver.create_output_topic("out", **_LONGS)
    for value, time in ((1, 10), (2, 5), (-1, 7), (5, 3)):
        source.pipe_input("a", value, timestamp=time)
    assert [(r.value, r.timestamp) for r in out.read_records()] == [(1, 10), (3, 10), (None, 7), (5, 3)]


def test_cogroup_in_python(run: Run) -> None:
    def add(key: str, value: int, total: int) -> int:
        return total + value

    def spend(key: str, value: int, total: int) -> int:
        return total - value

    builder = StreamsBuilder()
    paid, spent = (builder.stream(topic, **_LONGS).group_by_key() for topic in ("paid", "spent"))
    both = paid.cogroup(python_fn(add, returns="bigint")).cogroup(spent, python_fn(spend, returns="bigint"))
    both.aggregate(100, store="balances").to_stream().to("out")
    driver = run(builder)
    paying, spending = (driver.create_input_topic(topic, **_LONGS) for topic in ("paid", "spent"))
    out = driver.create_output_topic("out", **_LONGS)
    paying.pipe_input("a", 5, timestamp=7)
    spending.pipe_input("a", 20, timestamp=3)
    spending.pipe_input("b", 1, timestamp=9)
    assert [(r.key, r.value, r.timestamp) for r in out.read_records()] == [
        ("a", 105, 7),
        ("a", 85, 7),
        ("b", 99, 9),
    ]
    assert driver.get_key_value_store("balances").get("a") == 85


@pytest.mark.parametrize("verb", ["aggregate", "reduce"])
def test_grouped_table_in_python(run: Run, verb: str) -> None:
    def add(key: str, value: int, total: int) -> int:
        return total + value

    def subtract(key: str, value: int, total: int) -> int | None:
        return total - value or None

    builder = StreamsBuilder()
    rows = builder.table("in", **_LONGS)
    groups = rows.group_by(lambda key, value: (F.when(value > 9, "large").otherwise("small"), value))
    if verb == "aggregate":
        fns = [python_fn(fn, returns="bigint") for fn in (add, subtract)]
        totals = groups.aggregate(0, *fns, store="totals")
    else:
        adder = python_fn(lambda total, value: total + value, returns="bigint")
        totals = groups.reduce(
            adder, python_fn(lambda total, value: total - value or None, returns="bigint"), store="totals"
        )
    totals.to_stream().to("out")
    driver = run(builder)
    source = driver.create_input_topic("in", **_LONGS)
    out = driver.create_output_topic("out", **_LONGS)
    for key, value in (("a", 1), ("b", 2), ("a", 4), ("b", 12), ("a", None)):
        source.pipe_input(key, value)
    assert [(r.key, r.value) for r in out.read_records()] == [
        ("small", 1),
        ("small", 3),
        ("small", 6),
        ("small", 4),
        ("large", 12),
        ("small", None),
    ]


def test_foreign_key_join_in_python(run: Run) -> None:
    def named(number: int, name: str | None) -> str:
        return f"{number} {name}"

    builder = StreamsBuilder()
    numbers = builder.table("numbers", **_LONGS)
    names = builder.table("names", key=serdes.string, value=serdes.string)
    joined = numbers.left_join(
        names,
        joiner=python_fn(named, returns="string"),
        foreign_key=lambda value: value.cast("string"),
        store="named",
    )
    joined.to_stream().to("out", value=serdes.string)
    driver = run(builder)
    left = driver.create_input_topic("numbers", **_LONGS)
    right = driver.create_input_topic("names", key=serdes.string, value=serdes.string)
    out = driver.create_output_topic("out", key=serdes.string, value=serdes.string)
    left.pipe_input("a", 1)
    right.pipe_input("1", "one")
    left.pipe_input("a", 2)
    left.pipe_input("a", None)
    assert [r.value for r in out.read_records()] == ["1 None", "1 one", "2 None", None]
