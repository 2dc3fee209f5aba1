"""Word count on the test driver."""

from examples.wordcount.app import build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_words_are_counted_over_all_lines() -> None:
    with TopologyTestDriver(build()) as driver:
        lines = driver.create_input_topic("lines", key=serdes.string, value=serdes.string)
        counts = driver.create_output_topic("wordcounts", key=serdes.string, value=serdes.long)
        lines.pipe_input(None, "The tide turns the mill.")
        assert {r.key: r.value for r in counts.read_records()} == {"the": 2, "tide": 1, "turns": 1, "mill": 1}
        lines.pipe_input(None, "the MILL, the mill")
        assert {r.key: r.value for r in counts.read_records()} == {"the": 4, "mill": 3}
        assert driver.get_key_value_store("counts").get("the") == 4
