"""Orders with their customer: two tables, joined by a foreign key; a change on either side is seen."""

import sys

from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, serdes

ORDER = serdes.json("customer string, item string, amount double")
CUSTOMER = serdes.json("name string, city string")
ENRICHED = serdes.json("item string, amount double, name string, city string")


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    orders = builder.table("orders", key=serdes.string, value=ORDER)
    customers = builder.table("customers", key=serdes.string, value=CUSTOMER)
    # The keys differ: an order has its own, and names its customer in a field. When a customer moves, all
    # the orders of that customer go out anew.
    orders.join(
        customers,
        # A field is an attribute, or an item where Column has a method of that name.
        lambda order, customer: F.struct(order.item, order.amount, customer["name"], customer.city),
        foreign_key=lambda order: order.customer,
        store="enriched",
    ).to_stream().to("enriched-orders", value=ENRICHED)
    return builder


if __name__ == "__main__":
    App("enriched-orders", build()).run(until="now" if "--until-now" in sys.argv else None)
