"""IoT: the times a sensor was active, as session windows, and an alarm when one has fallen silent."""

import sys

from pyspark.sql import functions as F

from tidemill import (
    App,
    Processor,
    ProcessorContext,
    Punctuation,
    Record,
    StreamsBuilder,
    serdes,
    state_store,
    windows,
)

READING = serdes.json("temperature double")
ACTIVITY = serdes.json("readings bigint, mean double")
ALARM = serdes.json("silent_ms bigint")
SILENCE_MS = 10_000


class SilenceAlarm(Processor):
    """Remembers when each sensor was last heard, and looks for silent ones once a second."""

    stores = (state_store("last-heard", key=serdes.string, value=serdes.long),)

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        # Stream time is the time of the records: old data replayed raise the same alarms as new data do.
        # Punctuation.WALL_CLOCK_TIME would also notice that all sensors are silent at once.
        context.schedule("1 second", Punctuation.STREAM_TIME, self.look)

    def process(self, record: Record) -> None:
        self.context.state_store("last-heard").put(record.key, record.timestamp)

    def look(self, now: int) -> None:
        heard = self.context.state_store("last-heard")
        for sensor, at in list(heard.all()):
            if now - at > SILENCE_MS:
                self.context.forward(Record(sensor, {"silent_ms": now - at}, now))
                heard.delete(sensor)  # one alarm per silence


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    readings = builder.stream("sensors", key=serdes.string, value=READING)
    (
        readings.group_by_key()
        # A session grows as long as readings follow each other within five seconds.
        .windowed_by(windows.session("5 seconds", grace="1 second"))
        .aggregate(
            lambda value: F.struct(
                F.count(value.temperature).alias("readings"),
                F.round(F.avg(value.temperature), 2).alias("mean"),
            ),
            store="activity",
        )
        .to_stream()
        .to("activity", value=ACTIVITY)
    )
    # A processor is plain Python with a store and a clock.
    readings.process(SilenceAlarm, key=serdes.string, value=ALARM).to("alarms")
    return builder


if __name__ == "__main__":
    App("iot", build()).run(until="now" if "--until-now" in sys.argv else None)
