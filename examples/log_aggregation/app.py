"""Log aggregation: the logs of many sources in one topic, and the error rate of every service."""

import sys

from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, record, serdes, windows

LINE = serdes.json("level string, message string")
COLLECTED = serdes.json("source string, level string, message string")
RATE = serdes.json("lines bigint, errors bigint, rate double")


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    # One stream of several topics; a compiled pattern would do as well.
    logs = builder.stream(["web-logs", "shop-logs"], key=serdes.string, value=LINE).map_values(
        lambda line: F.struct(record.topic().alias("source"), line.level, line.message)
    )
    logs.to("all-logs", value=COLLECTED)
    (
        logs.group_by_key(value=COLLECTED)
        .windowed_by(windows.tumbling("10 seconds", grace="5 seconds"))
        .aggregate(
            lambda line: F.struct(
                F.count(line.level).alias("lines"),
                F.count(F.when(line.level == "ERROR", 1)).alias("errors"),
                F.round(F.avg(F.when(line.level == "ERROR", 1.0).otherwise(0.0)), 3).alias("rate"),
            ),
            store="error-rates",
        )
        .to_stream()
        .to("error-rates", value=RATE)
    )
    return builder


if __name__ == "__main__":
    App("log-aggregation", build()).run(until="now" if "--until-now" in sys.argv else None)
