"""The average of the last ten messages of each partition, whatever their keys are."""

import sys

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, record, serdes

LAST = 10


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    (
        builder.stream("numbers", key=serdes.string, value=serdes.long)
        # `record` tells where a record was read: here its partition becomes the key.
        .group_by(lambda key, value: record.partition(), key=serdes.int, name="by-partition")
        # A fold: what there is before the first record, and how each record changes it.
        .aggregate(
            lambda: F.array().cast("array<bigint>"),
            lambda partition, number, numbers: with_one_more(numbers, number),
            store="last-ten",
        )
        .map_values(average)
        .to_stream()
        .to("averages", key=serdes.int, value=serdes.double)
    )
    return builder


def with_one_more(numbers: Column, number: Column) -> Column:
    """The numbers and one more, of which the last ten stay."""
    longer = F.concat(numbers, F.array(number))
    return F.slice(longer, F.greatest(F.lit(1), F.size(longer) - (LAST - 1)), LAST)


def average(numbers: Column) -> Column:
    total = F.aggregate(numbers, F.lit(0).cast("bigint"), lambda sum_, number: sum_ + number)
    return total / F.size(numbers)


if __name__ == "__main__":
    App("average-of-ten", build()).run(until="now" if "--until-now" in sys.argv else None)
