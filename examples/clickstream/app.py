"""Click-stream: the clicks of a user as visits, each told once, when it is over."""

import sys

from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, serdes, suppressed, windows

CLICK = serdes.json("page string")
VISIT = serdes.json("clicks bigint, pages bigint, paid boolean")


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    (
        builder.stream("clicks", key=serdes.string, value=CLICK)
        .group_by_key()
        # A visit ends when a user did nothing for ten seconds. A click that comes late may join two visits.
        .windowed_by(windows.session("10 seconds", grace="2 seconds"))
        .aggregate(
            lambda click: F.struct(
                F.count(click.page).alias("clicks"),
                F.size(F.collect_set(click.page)).cast("bigint").alias("pages"),
                F.max(click.page == "/pay").alias("paid"),
            ),
            store="visits",
        )
        # Hold every visit back until nothing can change it any more.
        .suppress(suppressed.until_window_closes())
        .to_stream()
        .to("visits", value=VISIT)
    )
    return builder


if __name__ == "__main__":
    App("clickstream", build()).run(until="now" if "--until-now" in sys.argv else None)
