"""Sums with names on the test driver."""

from examples.global_table.app import build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_sums_take_the_name_their_colour_has_now() -> None:
    with TopologyTestDriver(build()) as driver:
        colours = driver.create_input_topic("colours", key=serdes.string, value=serdes.string)
        numbers = driver.create_input_topic("numbers", key=serdes.string, value=serdes.long)
        sums = driver.create_output_topic(
            "sums",
            key=serdes.time_windowed(serdes.string, "10 seconds"),
            value=serdes.json("name string, sum bigint"),
        )

        def after(key: str, number: int, second: int) -> list[dict[str, object]]:
            numbers.pipe_input(key, number, timestamp=second * 1000)
            return [record.value for record in sums.read_records() if record.key.end == record.timestamp]

        colours.pipe_input("blue", "the blue ones")
        assert after("blue", 3, 20) == [{"name": "the blue ones", "sum": 3}]
        assert after("red", 3, 20) == []  # has no name, and an inner join drops it
        colours.pipe_input("blue", "sea")
        assert after("blue", 4, 22) == [{"name": "sea", "sum": 7}]
