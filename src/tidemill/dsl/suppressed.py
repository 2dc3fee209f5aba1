"""How `KTable.suppress` holds updates back: until the window closes, or for a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidemill.place import here
from tidemill.time import Duration, milliseconds
from tidemill.topology import StoreSpec, TopologyError
from tidemill.topology.draft import Step
from tidemill.topology.nodes import Suppress, UntilTimeLimit, UntilWindowCloses, WhenFull
from tidemill.windows import Windows


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """What is held back, how much fits, and what happens when it is full."""

    until: UntilWindowCloses | UntilTimeLimit
    max_records: int | None = None
    max_bytes: int | None = None
    when_full: WhenFull = WhenFull.SHUT_DOWN
    logging: bool | Mapping[str, str] = False

    def node(self, step: Step, store: StoreSpec, window: Windows | None) -> Suppress:
        """The step of a topology that does this."""
        return Suppress(
            **step,
            until=self.until,
            store=store,
            window=window,
            max_records=self.max_records,
            max_bytes=self.max_bytes,
            when_full=self.when_full,
        )


def until_window_closes(
    *,
    max_records: int | None = None,
    max_bytes: int | None = None,
    logging: bool | Mapping[str, str] = False,
) -> Suppressed:
    """Hand on one final row per window. Without a bound the buffer grows as needed; a full one stops the app.

    >>> until_window_closes(max_records=1000).when_full
    <WhenFull.SHUT_DOWN: 'shut-down'>
    """
    _check(max_records, max_bytes)
    return Suppressed(
        until=UntilWindowCloses(), max_records=max_records, max_bytes=max_bytes, logging=logging
    )


def until_time_limit(
    limit: Duration,
    *,
    max_records: int | None = None,
    max_bytes: int | None = None,
    when_full: str = "emit-early",
    logging: bool | Mapping[str, str] = False,
) -> Suppressed:
    """Hand on at most one update of a key per `limit`; a full buffer emits its oldest row, or stops the app.

    >>> until_time_limit("5 s", max_records=1000).until
    UntilTimeLimit(limit=5000)
    """
    _check(max_records, max_bytes)
    try:
        full = WhenFull(when_full)
    except ValueError:
        raise TopologyError(
            f"`{when_full}` says nothing about a full buffer",
            place=here(),
            remedy='write when_full="emit-early" or when_full="shut-down"',
        ) from None
    return Suppressed(
        until=UntilTimeLimit(milliseconds(limit, what="the time limit")),
        max_records=max_records,
        max_bytes=max_bytes,
        when_full=full,
        logging=logging,
    )


def _check(*bounds: int | None) -> None:
    for bound in bounds:
        if bound is not None and bound < 1:
            raise TopologyError(
                f"a buffer of {bound} holds nothing", place=here(), remedy="give at least 1, or no bound"
            )
