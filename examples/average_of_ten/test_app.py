"""The average of the last ten on the test driver."""

from examples.average_of_ten.app import build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_only_the_last_ten_count_and_keys_do_not() -> None:
    with TopologyTestDriver(build()) as driver:
        numbers = driver.create_input_topic("numbers", key=serdes.string, value=serdes.long)
        averages = driver.create_output_topic("averages", key=serdes.int, value=serdes.double)
        given = [number * number for number in range(1, 15)]
        for count, number in enumerate(given, start=1):
            numbers.pipe_input("ab"[count % 2], number, timestamp=count)
            last = given[max(0, count - 10) : count]
            assert [(r.key, r.value) for r in averages.read_records()] == [(0, sum(last) / len(last))]
