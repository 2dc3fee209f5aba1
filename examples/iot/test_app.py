"""Activity and silence on the test driver."""

from examples.iot.app import ACTIVITY, ALARM, READING, build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_sessions_grow_and_silence_is_noticed_once() -> None:
    with TopologyTestDriver(build()) as driver:
        sensors = driver.create_input_topic("sensors", key=serdes.string, value=READING)
        activity = driver.create_output_topic(
            "activity", key=serdes.session_windowed(serdes.string), value=ACTIVITY
        )
        alarms = driver.create_output_topic("alarms", key=serdes.string, value=ALARM)

        def hear(sensor: str, *seconds: int) -> None:
            for second in seconds:
                sensors.pipe_input(sensor, {"temperature": float(second)}, timestamp=second * 1000)

        hear("s1", 1, 4)
        hear("s2", 5)
        # A session that grows takes the place of the shorter one: null deletes that.
        assert [(str(r.key), r.value and r.value["readings"]) for r in activity.read_records()] == [
            ("[s1@1000/1000]", 1),
            ("[s1@1000/1000]", None),
            ("[s1@1000/4000]", 2),
            ("[s2@5000/5000]", 1),
        ]
        hear("s1", 15)
        assert alarms.read_records() == []
        hear("s1", 16, 19)
        assert [(r.key, r.value["silent_ms"], r.timestamp) for r in alarms.read_records()] == [
            ("s2", 11_000, 16_000)
        ]
