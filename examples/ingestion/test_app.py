"""Ingestion on the test driver: every record comes out, on one side or the other."""

from examples.ingestion.app import CLEAN, DEAD_LETTER, build
from tidemill import serdes
from tidemill.testing import TopologyTestDriver


def test_good_readings_are_clean_and_others_tell_why_not() -> None:
    with TopologyTestDriver(build()) as driver:
        raw = driver.create_input_topic("raw_data", key=serdes.string, value=serdes.string)
        clean = driver.create_output_topic("clean", key=serdes.string, value=CLEAN)
        dead = driver.create_output_topic("dead-letters", key=serdes.string, value=DEAD_LETTER)
        for text in (
            '{"device":"a","reading":20.5,"unit":"C"}',
            '{"device":"a","reading":50,"unit":"F"}',
            '{"device":"a","rea',
            '{"device":"a","unit":"C"}',
            '{"device":"a","reading":1,"unit":"K"}',
        ):
            raw.pipe_input("a", text)
        assert [record.value for record in clean.read_records()] == [
            {"device": "a", "celsius": 20.5},
            {"device": "a", "celsius": 10.0},
        ]
        assert [(r.value["reason"], r.value["offset"], r.value["raw"][:14]) for r in dead.read_records()] == [
            ("no JSON", 2, '{"device":"a",'),
            ("no reading", 3, '{"device":"a",'),
            ("unknown unit", 4, '{"device":"a",'),
        ]
