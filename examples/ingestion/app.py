"""Ingestion: raw text is parsed; the good goes to `clean`, the rest to `dead-letters` with a reason."""

import sys

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, record, serdes

# `problem` is where Spark puts text that is no JSON of this form.
RAW = "device string, reading double, unit string, problem string"
CLEAN = serdes.json("device string, celsius double")
DEAD_LETTER = serdes.json("reason string, topic string, offset bigint, raw string")


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    # Read as plain text: nothing is lost before we have looked at it.
    raw = builder.stream("raw_data", key=serdes.string, value=serdes.string)
    checked = raw.map_values(checked_reading)
    branches = (
        checked.split()
        # A record goes into the first branch whose condition holds.
        .branch(lambda value: value.reason.isNull(), name="good")
        .default_branch(name="bad")
    )
    branches["good"].map_values(lambda value: value.reading).to("clean", value=CLEAN)
    branches["bad"].map_values(dead_letter).to("dead-letters", value=DEAD_LETTER)
    return builder


def checked_reading(text: Column) -> Column:
    """The reading, and the reason why it cannot be used, if there is one."""
    parsed = F.from_json(text, RAW, {"columnNameOfCorruptRecord": "problem"})
    celsius = F.when(parsed.unit == "F", F.round((parsed.reading - 32) / 1.8, 1)).otherwise(parsed.reading)
    reason = (
        F.when(parsed.problem.isNotNull(), "no JSON")
        .when(parsed.reading.isNull(), "no reading")
        .when(~parsed.unit.isin("C", "F"), "unknown unit")
    )
    reading = F.struct(parsed.device.alias("device"), celsius.alias("celsius"))
    return F.struct(text.alias("raw"), reading.alias("reading"), reason.alias("reason"))


def dead_letter(value: Column) -> Column:
    """What somebody needs to find the record and see what is wrong with it."""
    return F.struct(
        value.reason.alias("reason"),
        record.topic().alias("topic"),
        record.offset().alias("offset"),
        value.raw.alias("raw"),
    )


if __name__ == "__main__":
    App("ingestion", build()).run(until="now" if "--until-now" in sys.argv else None)
