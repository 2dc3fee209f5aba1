"""Word count: lines in, how often each word was seen out."""

import sys

from pyspark.sql import functions as F

from tidemill import App, StreamsBuilder, serdes


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    (
        builder.stream("lines", key=serdes.string, value=serdes.string)
        # A lambda gets a Spark Column and returns one: this is compiled, no Python runs per record.
        .flat_map_values(lambda line: F.split(F.lower(line), r"\W+"))
        .filter(lambda word: word != "")
        # The word becomes the key. Spark moves the records; there is no topic in between.
        .group_by(lambda key, word: word, key=serdes.string, name="by-word")
        .count(store="counts")
        # A table of counts; as a stream it is the counts that changed.
        .to_stream()
        .to("wordcounts", key=serdes.string, value=serdes.long)
    )
    return builder


if __name__ == "__main__":
    App("word-count", build()).run(until="now" if "--until-now" in sys.argv else None)
