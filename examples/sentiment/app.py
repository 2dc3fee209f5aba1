"""Sentiment: a Python model scores reviews, batch by batch, as an Arrow UDF."""

import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType

from tidemill import App, StreamsBuilder, serdes

REVIEW = serdes.json("product string, text string")
SCORED = serdes.json("product string, score double, feeling string")


class Model:
    """Stands for a model of yours: slow to load, quick to ask for many texts at once."""

    def __init__(self) -> None:
        self.good = {"good", "great", "lovely", "perfect", "happy", "fast", "love"}
        self.bad = {"bad", "slow", "broken", "awful", "sad", "terrible", "hate"}

    def score(self, texts: list[str | None]) -> list[float]:
        """From -1, all bad, to 1, all good."""
        return [self._score((text or "").lower().split()) for text in texts]

    def _score(self, words: list[str]) -> float:
        good = sum(word in self.good for word in words)
        bad = sum(word in self.bad for word in words)
        return round((good - bad) / (good + bad), 2) if good + bad else 0.0


# Spark calls this with Arrow arrays, in a Python process beside its JVM: the model is loaded once, not per
# record, and no record is turned into a Python object on the way.
@F.arrow_udf(DoubleType())
def score(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
    model = Model()
    for texts in batches:
        yield pa.array(model.score(texts.to_pylist()), pa.float64())


def build() -> StreamsBuilder:
    builder = StreamsBuilder()
    (
        builder.stream("reviews", key=serdes.string, value=REVIEW)
        .map_values(lambda review: F.struct(review.product, score(review.text).alias("score")))
        .map_values(
            lambda value: F.struct(
                value.product,
                value.score,
                F.when(value.score > 0, "good")
                .when(value.score < 0, "bad")
                .otherwise("mixed")
                .alias("feeling"),
            )
        )
        .to("sentiments", value=SCORED)
    )
    return builder


if __name__ == "__main__":
    App("sentiment", build()).run(until="now" if "--until-now" in sys.argv else None)
