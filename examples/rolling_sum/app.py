"""Rolling sum: for every number, the sum of its key's numbers of the last ten seconds."""

import sys

from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, serdes, windows


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    (
        builder.stream("numbers", key=serdes.string, value=serdes.long)
        .group_by_key()
        # A sliding window ends at each record and reaches ten seconds back, both ends included. Records that
        # come up to five seconds late still count: that is the grace.
        .windowed_by(windows.sliding("10 seconds", grace="5 seconds"))
        # Any aggregate of Spark. It runs as JVM code; the store `rolling-sum` keeps what it needs.
        .aggregate(lambda key, value: F.sum(value), store="rolling-sum")
        .to_stream()
        # The key of a result is the number's key and the start of the window.
        .to("sums", value=serdes.long)
    )
    return builder


if __name__ == "__main__":
    # Runs until Ctrl-C. With --until-now it ends when it has seen what is in the topic now.
    App("rolling-sum", build()).run(until="now" if "--until-now" in sys.argv else None)
