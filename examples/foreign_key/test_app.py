"""Orders with their customer on the test driver."""

from examples.foreign_key.app import CUSTOMER, ENRICHED, ORDER, build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_orders_follow_their_customer() -> None:
    with TopologyTestDriver(build()) as driver:
        orders = driver.create_input_topic("orders", key=serdes.string, value=ORDER)
        customers = driver.create_input_topic("customers", key=serdes.string, value=CUSTOMER)
        enriched = driver.create_output_topic("enriched-orders", key=serdes.string, value=ENRICHED)

        def told() -> list[tuple[str, str | None]]:
            return sorted((r.key, r.value and r.value["city"]) for r in enriched.read_records())

        orders.pipe_input("o1", {"customer": "ann", "item": "lamp", "amount": 30.0})
        orders.pipe_input("o2", {"customer": "ann", "item": "rug", "amount": 80.0})
        assert told() == []  # nobody knows ann yet
        customers.pipe_input("ann", {"name": "Ann", "city": "Oslo"})
        assert told() == [("o1", "Oslo"), ("o2", "Oslo")]
        customers.pipe_input("ann", {"name": "Ann", "city": "Riga"})
        assert told() == [("o1", "Riga"), ("o2", "Riga")]
        orders.pipe_input("o1", None)
        assert told() == [("o1", None)]
