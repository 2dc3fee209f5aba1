"""What is done to a life: each fault strikes while work is in flight and heals as people would heal it."""

from __future__ import annotations

import random
import time

from fault.checks import Violation
from fault.life import Life
from fault.process import PATIENCE, AppProcess


class MissedError(Exception):
    """The fault came too early or too late to hit any work: the run says nothing and is done again."""


def running(life: Life) -> AppProcess:
    """The app, started and caught up if it was not."""
    if life.app is None or not life.app.alive:
        life.start()
        if life.ledger.rounds == 0:
            # The table's rows first: whether the very first orders would meet them is a matter of luck.
            life.feed(0)
            life.await_processed()
            life.feed()
        life.finish()
    assert life.app is not None
    return life.app


def crash_at(life: Life, point: str, nth: int) -> None:
    """The JVM dies at a named moment; the app is started again."""
    app = running(life)
    app.arm(f"{point}:{nth}:kill")
    life.feed()
    try:
        app.await_end()
    except Exception as error:
        raise MissedError(f"{point} was not reached {nth} times") from error
    assert app.error is None or app.error["code"] == "ENGINE_GONE", app.error
    if "snapshot" not in point:  # taken by a thread of its own, whether there is work or not
        check_hit(life)
    life.check_not_torn()
    life.check_now()
    life.start()
    life.finish()


def fail_at(life: Life, point: str, nth: int) -> None:
    """A batch fails at a named moment; the app recovers by itself, in the same process."""
    app = running(life)
    restarts = app.restarts()
    app.arm(f"{point}:{nth}:raise")
    life.feed()
    life.finish()
    app.arm("")
    assert app.restarts() > restarts, f"{point} was not reached {nth} times"


def kill(life: Life, who: str, chance: random.Random) -> None:
    """kill -9 from outside at a random moment while batches run."""
    app = running(life)
    before = life.done()
    life.feed(400)
    app.until(lambda: life.done() > before)
    time.sleep(chance.uniform(0.0, 1.5))
    if life.done() >= life.due():
        raise MissedError("all the work was done before the kill")
    app.kill(who)
    if who == "worker":
        life.finish()
        return
    if who != "python":
        app.await_end()
        life.check_not_torn()
    else:
        # Spark's JVM goes on for a moment: the next instance must wait for it, not write beside it.
        app.process.wait(60)
    life.check_now()
    life.start()
    life.finish()
    app.await_end()


def kill_broker(life: Life, chance: random.Random, *, outage: float) -> None:
    """The broker dies and comes back; the app waits for it."""
    app = running(life)
    before = life.done()
    life.feed(400)
    app.until(lambda: life.done() > before)
    time.sleep(chance.uniform(0.0, 1.0))
    if life.done() >= life.due():
        raise MissedError("all the work was done before the kill")
    life.cluster.kill()
    time.sleep(outage)
    life.cluster.start_broker()
    life.finish()


def check_hit(life: Life) -> None:
    """The app must have had work when it died."""
    if life.done() >= life.due():
        raise MissedError("all the work was done before the fault")


def finish_or_restart(life: Life, *codes: str) -> None:
    """The app goes on by itself, or ends with one of these errors and goes on when it is started again."""
    try:
        life.finish()
    except Violation as violation:
        if violation.invariant != "I6" or life.app is None or life.app.alive:
            raise
        await_refusal(life.app, *codes)
        life.start()
        life.finish()


def await_refusal(process: AppProcess, *codes: str) -> None:
    """A process that is not to run ends by itself, says why and leaves nothing behind."""
    code = process.await_end(PATIENCE)
    assert process.error is not None, process.tail()
    assert process.error["code"] in codes, process.error
    assert code not in (0, None)
    assert "Traceback" not in process.error["text"]


def freeze_broker(life: Life, chance: random.Random) -> None:
    """The broker answers nothing for a while, its connections stay open."""
    app = running(life)
    before = life.done()
    life.feed(400)
    app.until(lambda: life.done() > before)
    time.sleep(chance.uniform(0.0, 1.0))
    if life.done() >= life.due():
        raise MissedError("all the work was done before the broker stood still")
    life.cluster.pause()
    time.sleep(chance.uniform(5.0, 12.0))
    life.cluster.resume()
    life.finish()
