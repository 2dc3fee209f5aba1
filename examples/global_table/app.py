"""The rolling sum, with a name from a global table: numbers and colours become `sums`."""

import sys

from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, serdes, windows


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    # Every task holds a global table whole, so a stream can be joined with it by any key, and without its
    # records having to move.
    colours = builder.global_table("colours", key=serdes.string, value=serdes.string)
    sums = (
        builder.stream("numbers", key=serdes.string, value=serdes.long)
        .group_by_key()
        .windowed_by(windows.sliding("10 seconds", grace="5 seconds"))
        .aggregate(lambda key, value: F.sum(value), store="rolling-sum")
        .to_stream()
    )
    sums.join(
        colours,
        # The two values become one ...
        lambda total, name: F.struct(name.alias("name"), total.alias("sum")),
        # ... and this says which row of the table: the key without its window.
        key=lambda window, total: window["key"],
    ).to("sums", value=serdes.json("name string, sum bigint"))
    return builder


if __name__ == "__main__":
    App("named-sums", build()).run(until="now" if "--until-now" in sys.argv else None)
