"""A user's program, run by tests of `tidemill app`: counts words, with a processor and a helper."""

import os

from shop_words import loud

from tidemill import App, FixedKeyProcessor, Record, StreamsBuilder, serdes


class Shout(FixedKeyProcessor):
    def process(self, record: Record) -> None:
        self.context.forward(record.with_value(loud(record.value)))


source, target = os.environ["SHOP_TOPICS"].split(",")
builder = StreamsBuilder()
(
    builder.stream(source, key=serdes.string, value=serdes.string)
    .process_values(Shout, value=serdes.string)
    .group_by(lambda key, value: value, name="by-word")
    .count(store="counts")
    .to_stream()
    .to(target, key=serdes.string, value=serdes.long)
)
app = App(os.environ["SHOP_ID"], builder, commit_interval_ms=50, num_stream_threads=2)
