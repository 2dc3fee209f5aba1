"""Fraud detection on the test driver."""

from examples.fraud.app import ALERT, CARD, PAYMENT, SUSPICION, build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_three_suspicious_payments_within_a_minute_are_reported() -> None:
    with TopologyTestDriver(build()) as driver:
        cards = driver.create_input_topic("cards", key=serdes.string, value=CARD)
        payments = driver.create_input_topic("payments", key=serdes.string, value=PAYMENT)
        suspicions = driver.create_output_topic("suspicions", key=serdes.string, value=SUSPICION)
        alerts = driver.create_output_topic(
            "alerts", key=serdes.time_windowed(serdes.string, "1 minute"), value=ALERT
        )
        cards.pipe_input("bob", {"limit": 50, "home": "PT"})

        def after(amount: float, country: str, second: int) -> list[dict[str, object]]:
            payments.pipe_input("bob", {"amount": amount, "country": country}, timestamp=second * 1000)
            return [record.value for record in alerts.read_records()]

        assert after(20.0, "PT", 0) == []
        assert after(70.0, "PT", 10) == []
        assert after(15.5, "XX", 30) == []
        assert after(80.0, "PT", 50) == [
            {"payments": 3, "total": 165.5, "reasons": ["abroad", "over the limit"]}
        ]
        assert after(80.0, "PT", 300) == []  # the other ones were long ago
        cards.pipe_input("bob", {"limit": 500, "home": "PT"})
        assert after(80.0, "PT", 310) == []
        assert [r.value["reason"] for r in suspicions.read_records()] == [
            "over the limit",
            "abroad",
            "over the limit",
            "over the limit",
        ]
