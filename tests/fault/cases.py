"""The fault matrix: one row per case. A new case is a function of (life, chance) and a row here."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from fault import damage, faults, instances, resets, surroundings
from fault.life import Apps, Life
from fault.workloads import POISONED, STATEFUL

Strike = Callable[[Life, random.Random], None]

MAIN: Apps = {"main": STATEFUL, "copier": ("copy",)}
PYTHON: Apps = {"python": ("python",)}
SMALL: Apps = {"main": ("echo", "totals")}
POISON: Apps = {"poisoned": POISONED}
_LETTERS: dict[str, object] = {
    "deserialization_exception_handler": "dead_letter",
    "processing_exception_handler": "dead_letter",
}


@dataclass(frozen=True)
class Case:
    """A fault. `strike` injects it, heals it, lets the apps finish and compares.

    Cases with the same `apps` and `world` follow each other in one life: what a fault leaves behind, the next
    one meets. A case that `ends` its life gets one of its own. Two cases at once have two lives.
    """

    name: str
    strike: Strike = field(repr=False)
    apps: Apps = field(default_factory=lambda: MAIN, repr=False)
    world: str = "plain"
    """The broker it needs: plain, proxied or secured."""
    ends: bool = False
    settings: dict[str, object] = field(default_factory=dict, repr=False)

    @property
    def runs(self) -> int:
        """How many fault runs it is: one per workload that was at work."""
        return sum(len(names) for names in self.apps.values())


CRASH_POINTS = (
    "before_offset_log",
    "after_offset_log",
    "mid_state_update",
    "before_state_changelog",
    "after_state_changelog",
    "after_state_snapshot",
    "after_produce_before_txn_commit",
    "after_txn_commit_before_sink_ack",
    "after_sink_ack_before_commit_log",
    "before_commit_log",
    "after_commit_log",  # and before the group's offsets
)
FAIL_POINTS = (
    "after_offset_log",
    "mid_state_update",
    "after_state_changelog",
    "after_produce_before_txn_commit",
    "after_txn_commit_before_sink_ack",
    "after_sink_ack_before_commit_log",
    "after_commit_log",
)


def _crash(point: str, life: Life, chance: random.Random) -> None:
    faults.crash_at(life, point, 1 if "snapshot" in point else chance.randint(1, 3))


def _fail(point: str, life: Life, chance: random.Random) -> None:
    faults.fail_at(life, point, chance.randint(1, 3))


def _kill(who: str, life: Life, chance: random.Random) -> None:
    faults.kill(life, who, chance)


CASES = (
    *(Case(f"crash-{point}", partial(_crash, point)) for point in CRASH_POINTS),
    *(Case(f"fail-{point}", partial(_fail, point)) for point in FAIL_POINTS),
    *(Case(f"kill-{who}", partial(_kill, who)) for who in ("python", "jvm", "all")),
    Case("kill-python-worker", partial(_kill, "worker"), PYTHON),
    Case("kill-python-all", partial(_kill, "all"), PYTHON),
    Case("kill-broker", lambda life, chance: faults.kill_broker(life, chance, outage=0.5)),
    Case("kill-broker-outage", lambda life, chance: faults.kill_broker(life, chance, outage=15)),
    Case("freeze-broker", faults.freeze_broker),
    Case("zombie-same-folder", instances.zombie_with_locks),
    Case("zombie-no-locks", instances.zombie_without_locks),
    Case("two-instances-same-folder", instances.second_in_same_folder),
    Case("two-instances-other-folder", instances.second_in_other_folder),
    *(Case(f"damage-{name}", partial(damage.damaged, name), SMALL) for name in damage.DAMAGES),
    *(
        Case(f"reset-killed-after-{point}", partial(resets.killed_after, point), SMALL)
        for point in resets.POINTS
    ),
    *(
        Case(f"poison-{name}", strike, POISON, settings=_LETTERS)
        for name, strike in (
            ("crash-before-commit", partial(_crash, "after_produce_before_txn_commit")),
            ("crash-after-commit", partial(_crash, "after_txn_commit_before_sink_ack")),
            ("fail", partial(_fail, "after_sink_ack_before_commit_log")),
            ("kill", partial(_kill, "all")),
        )
    ),
    Case("disk-full", damage.disk_full, SMALL, ends=True),
    Case("source-topic-deleted", surroundings.source_deleted, SMALL, ends=True),
    Case("sink-topic-deleted", surroundings.sink_deleted, SMALL, ends=True),
    Case(
        "partitions-added-stateless",
        surroundings.partitions_added,
        {"copier": ("copy",)},
        ends=True,
    ),
    Case("partitions-added-stateful", surroundings.partitions_refused, SMALL, ends=True),
    Case("wrong-password", surroundings.wrong_password, SMALL, world="secured", ends=True),
    Case(
        "transaction-end-delayed",
        surroundings.delayed_transaction_end,
        SMALL,
        world="proxied",
        settings={"config": {"producer.transaction.timeout.ms": "4000"}},
    ),
    Case("connections-cut", surroundings.connections_cut, SMALL, world="proxied"),
)
BY_NAME = {case.name: case for case in CASES}

SAMPLE = (
    "crash-after_txn_commit_before_sink_ack",
    "fail-after_produce_before_txn_commit",
)
"""What a normal run does of it."""
