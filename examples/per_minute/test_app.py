"""Minutes with late data on the test driver."""

from examples.per_minute.app import MINUTE, READING, build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_minute_is_told_once_when_the_grace_is_over() -> None:
    with TopologyTestDriver(build()) as driver:
        sensors = driver.create_input_topic("sensors", key=serdes.string, value=READING)
        minutes = driver.create_output_topic(
            "minutes", key=serdes.time_windowed(serdes.string, "1 minute"), value=MINUTE
        )

        def after(temperature: float, second: int) -> list[tuple[int, dict[str, float]]]:
            sensors.pipe_input("s1", {"temperature": temperature}, timestamp=second * 1000)
            return [(record.key.start, record.value) for record in minutes.read_records()]

        assert after(20.0, 10) == []
        assert after(30.0, 65) == []
        assert after(25.0, 50) == []  # late, and in time: the first minute closes at second 70
        assert after(31.0, 75) == [(0, {"readings": 2, "mean": 22.5, "highest": 25.0})]
        assert after(99.0, 55) == []  # too late: dropped
        assert after(32.0, 140) == [(60_000, {"readings": 2, "mean": 30.5, "highest": 31.0})]
