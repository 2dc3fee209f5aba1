"""Logs of two sources on the test driver."""

from examples.log_aggregation.app import COLLECTED, LINE, RATE, build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_sources_come_together_and_errors_are_counted() -> None:
    with TopologyTestDriver(build()) as driver:
        web = driver.create_input_topic("web-logs", key=serdes.string, value=LINE)
        shop = driver.create_input_topic("shop-logs", key=serdes.string, value=LINE)
        logs = driver.create_output_topic("all-logs", key=serdes.string, value=COLLECTED)
        rates = driver.create_output_topic(
            "error-rates", key=serdes.time_windowed(serdes.string, "10 seconds"), value=RATE
        )
        web.pipe_input("search", {"level": "INFO", "message": "fine"}, timestamp=1_000)
        shop.pipe_input("search", {"level": "ERROR", "message": "no stock"}, timestamp=2_000)
        web.pipe_input("search", {"level": "WARN", "message": "slow"}, timestamp=11_000)
        assert [(r.value["source"], r.value["message"]) for r in logs.read_records()] == [
            ("web-logs", "fine"),
            ("shop-logs", "no stock"),
            ("web-logs", "slow"),
        ]
        assert [(r.key.start, r.value["lines"], r.value["rate"]) for r in rates.read_records()] == [
            (0, 1, 0.0),
            (0, 2, 0.5),
            (10_000, 1, 0.0),
        ]
