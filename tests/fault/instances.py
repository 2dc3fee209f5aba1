"""Two instances of one app: the second refuses, or the first is fenced; never do both write."""

from __future__ import annotations

import random
import time

from fault.faults import MissedError, await_refusal, running
from fault.life import Life
from fault.process import PATIENCE

TAKEN_OVER = ("FENCED", "CLAIM_LOST", "ALREADY_RUNNING")


def zombie_with_locks(life: Life, chance: random.Random) -> None:
    """The first stands still and still holds its locks: a second must not start."""
    app = running(life)
    _freeze_at_work(life, chance)
    try:
        await_refusal(life.another(), "ALREADY_RUNNING")
    finally:
        app.thaw()
    life.finish()


def zombie_without_locks(life: Life, chance: random.Random) -> None:
    """The first stands still, and its locks do not reach the second, as with a state directory on a network.

    The second takes over. When the first goes on, the broker or Spark's log must stop one of the two.
    """
    first = running(life)
    _freeze_at_work(life, chance)
    for app in life.apps:
        for lock in ("lock", "engine.lock"):
            (life.app_folder(app) / lock).unlink()
    second = life.start()
    try:
        life.finish()
    finally:
        first.thaw()
    deadline = time.monotonic() + PATIENCE
    while first.alive and second.alive:
        assert time.monotonic() < deadline, "both are still at work"
        life.feed(20)
        time.sleep(0.5)
    loser, winner = (second, first) if first.alive else (first, second)
    await_refusal(loser, *TAKEN_OVER)
    life.app = winner
    if not winner.alive:
        await_refusal(winner, *TAKEN_OVER)
        life.start()
    life.finish()


def second_in_same_folder(life: Life, _chance: random.Random) -> None:
    running(life)
    life.feed()
    await_refusal(life.another(), "ALREADY_RUNNING")
    life.finish()


def second_in_other_folder(life: Life, _chance: random.Random) -> None:
    """In another state directory the second finds no lock; the claim in Kafka says who is at work."""
    running(life)
    life.feed()
    second = life.another(settings={"state_dir": str(life.folder / "other-state")})
    await_refusal(second, "ALREADY_RUNNING")
    life.finish()


def _freeze_at_work(life: Life, chance: random.Random) -> None:
    assert life.app is not None
    before = life.done()
    life.feed(400)
    life.app.until(lambda: life.done() > before)
    time.sleep(chance.uniform(0.0, 1.0))
    life.app.freeze()
    if life.done() >= life.due():
        life.app.thaw()
        raise MissedError("all the work was done before the freeze")
