"""Fraud detection: a card with three suspicious payments within a minute is reported."""

import sys

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, serdes, windows

PAYMENT = serdes.json("amount double, country string")
CARD = serdes.json("limit double, home string")
SUSPICION = serdes.json("amount double, country string, reason string")
ALERT = serdes.json("payments bigint, total double, reasons array<string>")


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    payments = builder.stream("payments", key=serdes.string, value=PAYMENT)
    # A table: the last row of each card. A payment meets the row its card has at that moment.
    cards = builder.table("cards", key=serdes.string, value=CARD, store="cards")
    suspicions = payments.join(cards, suspicion).filter(lambda value: value.reason.isNotNull())
    suspicions.to("suspicions", value=SUSPICION)
    (
        suspicions.group_by_key(value=SUSPICION)
        .windowed_by(windows.sliding("1 minute", grace="10 seconds"))
        .aggregate(
            lambda value: F.struct(
                F.count(value.amount).alias("payments"),
                F.round(F.sum(value.amount), 2).alias("total"),
                F.sort_array(F.collect_set(value.reason)).alias("reasons"),
            ),
            store="suspicions-per-minute",
        )
        .to_stream()
        .filter(lambda value: value.payments >= 3)
        .to("alerts", value=ALERT)
    )
    return builder


def suspicion(payment: Column, card: Column) -> Column:
    reason = F.when(payment.amount > card.limit, "over the limit").when(
        payment.country != card.home, "abroad"
    )
    return F.struct(payment.amount, payment.country, reason.alias("reason"))


if __name__ == "__main__":
    App("fraud", build()).run(until="now" if "--until-now" in sys.argv else None)
