"""Visits on the test driver."""

from examples.clickstream.app import CLICK, VISIT, build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_visit_is_told_once_when_it_is_over() -> None:
    with TopologyTestDriver(build()) as driver:
        clicks = driver.create_input_topic("clicks", key=serdes.string, value=CLICK)
        visits = driver.create_output_topic("visits", key=serdes.session_windowed(serdes.string), value=VISIT)

        def after(user: str, page: str, second: int) -> list[tuple[str, dict[str, object]]]:
            clicks.pipe_input(user, {"page": page}, timestamp=second * 1000)
            return [(str(record.key), record.value) for record in visits.read_records()]

        assert after("ann", "/", 0) == []
        assert after("ann", "/item", 11) == []
        # Late by three seconds: one visit now, where there were two.
        assert after("ann", "/item", 8) == []
        assert after("ann", "/pay", 17) == []
        # The gap and the grace after the last click are over.
        assert after("ann", "/", 60) == [("[ann@0/17000]", {"clicks": 4, "pages": 3, "paid": True})]
