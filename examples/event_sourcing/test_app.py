"""Accounts on the test driver: what is decided, and that history alone gives the same balances."""

from examples.event_sourcing.app import COMMAND, EVENT, build, rebuild
from tidemill import serdes
from tidemill.testing import TopologyTestDriver

COMMANDS = [
    ("ann", "withdraw", 5),
    ("ann", "deposit", 100),
    ("bob", "deposit", 10),
    ("ann", "withdraw", 30),
    ("ann", "withdraw", 71),
]


def test_history_gives_the_balances_again() -> None:
    with TopologyTestDriver(build()) as driver:
        commands = driver.create_input_topic("commands", key=serdes.string, value=COMMAND)
        told = driver.create_output_topic("events", key=serdes.string, value=EVENT)
        table = driver.create_output_topic("balances", key=serdes.string, value=serdes.long)
        for account, kind, amount in COMMANDS:
            commands.pipe_input(account, {"kind": kind, "amount": amount})
        events = told.read_records()
        balances = {record.key: record.value for record in table.read_records()}
    assert [(event.key, event.value["event"], event.value["balance"]) for event in events] == [
        ("ann", "declined", 0),
        ("ann", "deposited", 100),
        ("bob", "deposited", 10),
        ("ann", "withdrawn", 70),
        ("ann", "declined", 70),
    ]
    assert balances == {"ann": 70, "bob": 10}

    with TopologyTestDriver(rebuild()) as driver:
        history = driver.create_input_topic("events", key=serdes.string, value=EVENT)
        table = driver.create_output_topic("balances", key=serdes.string, value=serdes.long)
        for event in events:
            history.pipe_input(event.key, event.value)
        assert {record.key: record.value for record in table.read_records()} == balances
