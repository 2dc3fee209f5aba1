"""A row of the list: one feature of Kafka Streams, where it stands here, and what proves it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Where a feature stands."""

    PASSED = "passed"
    DECIDED = "decided"
    OPEN = "open"


class Tier(StrEnum):
    """What does the work."""

    CATALYST = "catalyst"
    KERNEL = "kernel"
    PYTHON = "python"
    FRONT_END = "front end"
    RUNTIME = "runtime"
    TESTING = "testing"
    TOOLS = "tools"
    SPARK = "Spark itself"
    NONE = "none"


@dataclass(frozen=True)
class Row:
    """One feature. `tests` are names of scenarios, `random:` and a template, or a test file and a function.

    `reason` says why a decision was made, or what is missing.
    """

    number: int
    feature: str
    status: Status
    tier: Tier
    tests: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Group:
    """Rows about one subject."""

    letter: str
    title: str
    rows: tuple[Row, ...]

    def count(self, status: Status) -> int:
        """How many rows stand there."""
        return sum(row.status is status for row in self.rows)


def passed(number: int, feature: str, tier: Tier, *tests: str) -> Row:
    """A feature that works as in Kafka Streams; the tests fail if it breaks."""
    return Row(number, feature, Status.PASSED, tier, tests)


def decided(number: int, feature: str, tier: Tier, reason: str, *tests: str) -> Row:
    """A feature that differs on purpose."""
    return Row(number, feature, Status.DECIDED, tier, tests, reason)


def not_yet(number: int, feature: str, missing: str, *tests: str) -> Row:
    """A feature that is not there, or that no test proves; `tests` show the part that is."""
    return Row(number, feature, Status.OPEN, Tier.NONE, tests, missing)
