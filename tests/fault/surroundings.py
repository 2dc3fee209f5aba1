"""What others do to an app: topics deleted and widened, wrong passwords, slow and broken connections."""

from __future__ import annotations

import random
import time

from fault.checks import Violation
from fault.faults import await_refusal, finish_or_restart, running
from fault.life import PARTITIONS, Life
from fault.process import PATIENCE
from fault.proxy import END_TRANSACTION

GIVEN_UP = ("FENCED", "TRANSACTION_ENDED", "CLAIM_LOST", "UNREACHABLE", "QUERY_FAILED")
"""How an app may end that was cut off from its broker."""


def source_deleted(life: Life, _chance: random.Random) -> None:
    """The records are gone: that is told, and a new topic of the same name is not taken for the old one."""
    app = running(life)
    life.feed(10)
    life.finish()
    life.admin.delete([life.topic("in")])
    await_refusal(app, "OFFSETS_LOST", "NOT_FOUND")
    await_refusal(life.another(), "NOT_FOUND")
    life.admin.create(life.topic("in"), partitions=PARTITIONS)
    await_refusal(life.another(), "OFFSETS_LOST")
    life.check_now()


def sink_deleted(life: Life, _chance: random.Random) -> None:
    """Nowhere to write: a named end. With the topic back, the app goes on where it was."""
    app = running(life)
    life.admin.delete([life.topic("totals")])
    life.forget("totals")
    life.feed()
    await_refusal(app, "NOT_FOUND", "PRODUCTION")
    life.start()
    life.await_processed()
    assert len(life.output("totals")) == life.due() - life.deleted


def partitions_added(life: Life, _chance: random.Random) -> None:
    """An app without state takes new partitions in by itself."""
    running(life)
    life.admin.add_partitions(life.topic("in"), PARTITIONS + 1)
    life.ordered = False  # a key is now in two partitions
    life.refresh_producer()
    life.feed()
    assert len({entry.partition for entry in life.ledger("in")}) == PARTITIONS + 1
    life.finish()


def partitions_refused(life: Life, _chance: random.Random) -> None:
    """New partitions may move keys away from their state: the app is right all the same, or refuses."""
    app = running(life)
    life.admin.add_partitions(life.topic("in"), PARTITIONS + 1)
    life.ordered = False  # a key is now in two partitions
    life.refresh_producer()
    life.feed()
    try:
        life.finish()
    except Violation as violation:
        if violation.invariant != "I6":
            raise
        await_refusal(app, "PARTITIONS_ADDED", "INCOMPATIBLE_STATE")
        life.check_now()


def wrong_password(life: Life, _chance: random.Random) -> None:
    """A quick end with the cause and without the password; with the right one it goes on."""
    app = running(life)
    life.feed()
    life.finish()
    app.stop()
    wrong = {**life.settings["config"], "sasl.password": "open-sesame"}
    intruder = life.another(settings={"config": wrong})
    began = time.monotonic()
    await_refusal(intruder, "DENIED")
    assert time.monotonic() - began < PATIENCE / 4
    secret = str(life.settings["config"]["sasl.password"])
    logs = [*life.folder.glob("*.log"), *life.folder.rglob("spark.log")]
    for log in logs:
        text = log.read_text(errors="replace")
        assert "open-sesame" not in text, log
        assert secret not in text, log
    life.feed()
    life.start()
    life.finish()


def delayed_transaction_end(life: Life, _chance: random.Random) -> None:
    """The word that ends a transaction comes after the broker has given the transaction up."""
    running(life)
    assert life.proxy is not None
    life.proxy.hold(END_TRANSACTION, seconds=9.0, times=2)
    life.feed()
    finish_or_restart(life, *GIVEN_UP)
    assert life.proxy.held == 2, "no transaction was held up"


def connections_cut(life: Life, chance: random.Random) -> None:
    """Connections break in the middle of whatever they carry."""
    running(life)
    assert life.proxy is not None
    life.feed(400)
    for _ in range(5):
        time.sleep(chance.uniform(0.1, 0.8))
        life.proxy.cut()
    finish_or_restart(life, *GIVEN_UP)
