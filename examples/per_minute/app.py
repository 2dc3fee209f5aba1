"""Aggregation per minute with late data: one final row per sensor and minute, ten seconds after its end."""

import sys

from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, serdes, windows

READING = serdes.json("temperature double")
MINUTE = serdes.json("readings bigint, mean double, highest double")


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    (
        builder.stream("sensors", key=serdes.string, value=READING)
        .group_by_key()
        # Minutes one after the other. A reading that comes late still counts, until the time of the records
        # has passed the end of its minute by the grace. After that it is dropped, and counted as dropped.
        .windowed_by(windows.tumbling("1 minute", grace="10 seconds"))
        # One row per window, when it closes. Without this line there is a row for every change.
        .emit_strategy("close")
        .aggregate(
            lambda value: F.struct(
                F.count(value.temperature).alias("readings"),
                F.round(F.avg(value.temperature), 2).alias("mean"),
                F.max(value.temperature).alias("highest"),
            ),
            store="minutes",
        )
        .to_stream()
        .to("minutes", value=MINUTE)
    )
    return builder


if __name__ == "__main__":
    App("per-minute", build()).run(until="now" if "--until-now" in sys.argv else None)
