"""The rolling sum on the test driver: no Kafka, the real engine."""

from examples.rolling_sum.app import build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_each_number_ends_a_window_with_its_sum() -> None:
    with TopologyTestDriver(build()) as driver:
        numbers = driver.create_input_topic("numbers", key=serdes.string, value=serdes.long)
        sums = driver.create_output_topic(
            "sums", key=serdes.time_windowed(serdes.string, "10 seconds"), value=serdes.long
        )

        def after(key: str, number: int, second: int) -> list[tuple[str, int]]:
            """The sums of windows that end with the number, and those it came late for."""
            numbers.pipe_input(key, number, timestamp=second * 1000)
            return [
                (record.key.key, record.value)
                for record in sums.read_records()
                if record.key.end == record.timestamp
            ]

        assert after("blue", 1, 20) == [("blue", 1)]
        assert after("blue", 2, 25) == [("blue", 3)]
        assert after("red", 7, 26) == [("red", 7)]
        # Both ends belong to a window: the number of second 20 still counts in second 30.
        assert after("blue", 4, 30) == [("blue", 7)]
        # Late, but within the grace: the window that ends at second 30 is told again.
        assert after("blue", 100, 28) == [("blue", 107), ("blue", 103)]
        # The store can be read as in production.
        store = driver.get_window_store("rolling-sum")
        assert store.fetch("blue", 20_000) == 107
