"""The model by itself, and in the stream."""

from examples.sentiment.app import REVIEW, SCORED, Model, build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_model_weighs_good_against_bad() -> None:
    assert Model().score(["great, no: GREAT", "bad but fast", "the box", None]) == [1.0, 0.0, 0.0, 0.0]


def test_reviews_are_scored() -> None:
    with TopologyTestDriver(build()) as driver:
        reviews = driver.create_input_topic("reviews", key=serdes.string, value=REVIEW)
        scored = driver.create_output_topic("sentiments", key=serdes.string, value=SCORED)
        for number, text in enumerate(("great great slow", "awful price", "it is a box")):
            reviews.pipe_input(f"r{number}", {"product": "lamp", "text": text})
        assert [(r.key, r.value["score"], r.value["feeling"]) for r in scored.read_records()] == [
            ("r0", 0.33, "good"),
            ("r1", -1.0, "bad"),
            ("r2", 0.0, "mixed"),
        ]
