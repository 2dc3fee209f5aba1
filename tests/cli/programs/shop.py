"""A user's program, run by tests of `tidemill app`: counts words."""

import os

from shop_words import loud

from tidemill import App, StreamsBuilder, serdes

source, target = os.environ["SHOP_TOPICS"].split(",")
builder = StreamsBuilder()
(
    builder.stream(source, key=serdes.string, value=serdes.string)
    .map_values(loud)
    .group_by(lambda key, value: value, name="by-word")
    .count(store="counts")
    .to_stream()
    .to(target, key=serdes.string, value=serdes.long)
)
app = App(os.environ["SHOP_ID"], builder, commit_interval_ms=50, num_stream_threads=2)
