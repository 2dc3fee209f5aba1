"""Event sourcing: commands become events, events are the truth, and the balance of an account is a table."""

import sys

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidemill import App, KStream, StreamsBuilder, serdes

COMMAND = serdes.json("kind string, amount bigint")
EVENT = serdes.json("event string, change bigint, balance bigint")
# Every event counts. With a cache, several changes of an account in one batch would become one.
SETTINGS = {"statestore.cache.max.bytes": 0}


def build() -> StreamsBuilder:
    """Commands to events, and events to balances."""
    builder = StreamsBuilder()
    commands = builder.stream("commands", key=serdes.string, value=COMMAND)
    events = (
        commands.group_by_key()
        # The fold decides: what an account's last event was, and a command, make its next event.
        .aggregate(
            lambda: F.struct(
                F.lit("opened").alias("event"),
                F.lit(0).cast("bigint").alias("change"),
                F.lit(0).cast("bigint").alias("balance"),
            ),
            decide,
            store="accounts",
        )
        .to_stream()
    )
    events.to("events", value=EVENT)
    balances_of(events)
    return builder


def rebuild() -> StreamsBuilder:
    """The balances from the history of events alone."""
    builder = StreamsBuilder()
    balances_of(builder.stream("events", key=serdes.string, value=EVENT))
    return builder


def balances_of(events: KStream) -> None:
    """The balance of an account is the sum of its changes: nothing else has to be kept."""
    (
        events.group_by_key(value=EVENT)
        .aggregate(lambda event: F.sum(event.change), store="balances")
        .to_stream()
        .to("balances", value=serdes.long)
    )


def decide(account: Column, command: Column, last: Column) -> Column:
    covered = last.balance >= command.amount
    change = (
        F.when(command.kind == "deposit", command.amount)
        .when((command.kind == "withdraw") & covered, -command.amount)
        .otherwise(0)
    )
    event = (
        F.when(command.kind == "deposit", "deposited")
        .when((command.kind == "withdraw") & covered, "withdrawn")
        .otherwise("declined")
    )
    return F.struct(event.alias("event"), change.alias("change"), (last.balance + change).alias("balance"))


if __name__ == "__main__":
    if "--rebuild" in sys.argv:
        # Another application id: it begins at the first event, and ends at the last one there is.
        App("accounts-rebuilt", rebuild()).run(until="now")
    else:
        app = App("accounts", build(), config=SETTINGS)
        app.run(until="now" if "--until-now" in sys.argv else None)
