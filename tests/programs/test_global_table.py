"""A stream joined with a global table: orders in any currency, priced in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from tidemill import StreamsBuilder, Topology, serdes

if TYPE_CHECKING:
    from programs.conftest import Run

ORDER = serdes.json("currency string, amount double")
PRICED = serdes.json("amount double, rate double")


def priced_orders() -> StreamsBuilder:
    builder = StreamsBuilder()
    orders = builder.stream("orders", key=serdes.string, value=ORDER)
    rates = builder.global_table("rates", key=serdes.string, value=serdes.double)
    orders.join(
        rates,
        lambda order, rate: F.struct((order.amount * rate).alias("amount"), rate.alias("rate")),
        key=lambda key, order: order.currency,
    ).to("priced-orders", value=PRICED)
    return builder


def test_order_takes_the_rate_of_its_currency(run: Run) -> None:
    driver = run(priced_orders())
    orders = driver.create_input_topic("orders", key=serdes.string, value=ORDER)
    rates = driver.create_input_topic("rates", key=serdes.string, value=serdes.double)
    priced = driver.create_output_topic("priced-orders", key=serdes.string, value=PRICED)

    def after(key: str, currency: str | None, amount: float) -> list[tuple[str, dict[str, float], int]]:
        orders.pipe_input(key, {"currency": currency, "amount": amount}, timestamp=7)
        return [(record.key, record.value, record.timestamp) for record in priced.read_records()]

    rates.pipe_input("GBP", 1.25, timestamp=100)
    rates.pipe_input("SEK", 0.5, timestamp=100)
    assert priced.read_records() == []
    assert after("o1", "GBP", 8.0) == [("o1", {"amount": 10.0, "rate": 1.25}, 7)]
    assert after("o2", "SEK", 8.0) == [("o2", {"amount": 4.0, "rate": 0.5}, 7)]
    assert after("o3", "JPY", 8.0) == []
    assert after("o4", None, 8.0) == []
    rates.pipe_input("GBP", 1.5, timestamp=200)
    rates.pipe_input("SEK", None, timestamp=200)
    assert after("o5", "GBP", 8.0) == [("o5", {"amount": 12.0, "rate": 1.5}, 7)]
    assert after("o6", "SEK", 8.0) == []


def test_no_python_runs(tiers: Callable[[Topology], set[str]]) -> None:
    assert "python" not in tiers(priced_orders().build())
