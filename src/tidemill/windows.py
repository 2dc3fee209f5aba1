"""Window kinds: how records are grouped in time. All lengths are kept as milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tidemill.errors import UsageError
from tidemill.place import here
from tidemill.time import Duration, duration_text, milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWindows:
    """Windows of one size that start every `advance` from the epoch: [start, start + size)."""

    size: int
    advance: int
    grace: int = 0

    def __post_init__(self) -> None:
        if self.size <= 0:
            raise _error(f"the window size is {self.size} ms", "give a size above zero")
        if not 0 < self.advance <= self.size:
            size, advance = duration_text(self.size), duration_text(self.advance)
            raise _error(
                f"the advance {advance} does not lie between zero and the window size {size}",
                f"give an advance above zero and up to {size}: a longer one would leave records out",
            )

    @property
    def tumbling(self) -> bool:
        """Whether windows follow each other without overlap."""
        return self.advance == self.size

    @property
    def minimum_retention(self) -> int:
        """How long a store must keep a window so that no accepted record misses it."""
        return self.size + self.grace

    @property
    def word(self) -> str:
        """The kind in one word, for names."""
        return "tumbling" if self.tumbling else "hopping"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlidingWindows:
    """Windows that end or begin at a record and reach `difference` far, both bounds inclusive."""

    difference: int
    grace: int = 0

    @property
    def minimum_retention(self) -> int:
        """How long a store must keep a window so that no accepted record misses it."""
        return 2 * self.difference + self.grace

    @property
    def word(self) -> str:
        """The kind in one word, for names."""
        return "sliding"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWindows:
    """Windows that grow while records of a key follow each other within `gap`."""

    gap: int
    grace: int = 0

    def __post_init__(self) -> None:
        if self.gap <= 0:
            raise _error(f"the inactivity gap is {self.gap} ms", "give a gap above zero")

    @property
    def minimum_retention(self) -> int:
        """How long a store must keep a session so that no accepted record misses it."""
        return self.gap + self.grace

    @property
    def word(self) -> str:
        """The kind in one word, for names."""
        return "session"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlimitedWindows:
    """One window from `start` (epoch milliseconds) that never ends; earlier records are left out."""

    start: int = 0

    @property
    def minimum_retention(self) -> None:
        """An unlimited window is kept for ever."""
        return

    @property
    def word(self) -> str:
        """The kind in one word, for names."""
        return "unlimited"


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomWindows:
    """Windows by the user's function of (timestamp): an array of structs with start and end."""

    assign: Callable[..., Any] = field(compare=False)
    size: int
    grace: int = 0

    @property
    def minimum_retention(self) -> int:
        """How long a store must keep a window so that no accepted record misses it."""
        return self.size + self.grace

    @property
    def word(self) -> str:
        """The kind in one word, for names."""
        return "custom"


Windows = TimeWindows | SlidingWindows | SessionWindows | UnlimitedWindows | CustomWindows


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinWindows:
    """A left record joins the right records of [left - before, left + after], bounds inclusive."""

    before: int
    after: int
    grace: int = 0

    def __post_init__(self) -> None:
        if self.before + self.after < 0:
            raise _error(
                f"the join window ends before it begins: before={self.before} ms, after={self.after} ms",
                "make before + after at least zero",
            )

    @property
    def size(self) -> int:
        """The length from the earliest to the latest partner."""
        return self.before + self.after

    @property
    def minimum_retention(self) -> int:
        """How long each side must be kept so that no accepted record misses its partner."""
        return self.size + self.grace


def tumbling(size: Duration, *, grace: Duration = 0) -> TimeWindows:
    """Windows of one size, one after the other, aligned to the epoch.

    >>> tumbling("10 seconds", grace="5 seconds")
    TimeWindows(size=10000, advance=10000, grace=5000)
    """
    length = milliseconds(size, what="the window size")
    return TimeWindows(size=length, advance=length, grace=_grace(grace))


def hopping(size: Duration, advance: Duration, *, grace: Duration = 0) -> TimeWindows:
    """Windows of one size that start every `advance`, so that they overlap.

    >>> hopping("10 seconds", "2 seconds")
    TimeWindows(size=10000, advance=2000, grace=0)
    """
    return TimeWindows(
        size=milliseconds(size, what="the window size"),
        advance=milliseconds(advance, what="the advance"),
        grace=_grace(grace),
    )


def sliding(difference: Duration, *, grace: Duration = 0) -> SlidingWindows:
    """For every record, what happened up to `difference` before it.

    >>> sliding("10 seconds")
    SlidingWindows(difference=10000, grace=0)
    """
    return SlidingWindows(difference=milliseconds(difference, what="the difference"), grace=_grace(grace))


def session(gap: Duration, *, grace: Duration = 0) -> SessionWindows:
    """Bursts of activity per key, apart by more than `gap`.

    >>> session("30 min", grace="1 min")
    SessionWindows(gap=1800000, grace=60000)
    """
    return SessionWindows(gap=milliseconds(gap, what="the inactivity gap"), grace=_grace(grace))


def unlimited(start: Duration = 0) -> UnlimitedWindows:
    """One window from `start` (since the epoch) without an end.

    >>> unlimited()
    UnlimitedWindows(start=0)
    """
    return UnlimitedWindows(start=milliseconds(start, what="the start"))


def custom(assign: Callable[..., Any], size: Duration, *, grace: Duration = 0) -> CustomWindows:
    """Windows of your own, for instance days of a time zone; `size` is the longest one.

    `assign` takes the timestamp Column and returns an array Column of structs (start, end).

    >>> custom(lambda timestamp: None, "25 hours").size
    90000000
    """
    length = milliseconds(size, what="the window size")
    return CustomWindows(assign=assign, size=length, grace=_grace(grace))


def join(
    difference: Duration | None = None,
    *,
    before: Duration | None = None,
    after: Duration | None = None,
    grace: Duration = 0,
) -> JoinWindows:
    """How far apart two records may be to join; `before` and `after` default to `difference`.

    >>> join("10 seconds", after=0)
    JoinWindows(before=10000, after=0, grace=0)
    """
    if difference is None and (before is None or after is None):
        raise _error("the join window has no length", "give a difference, or both before= and after=")
    default = 0 if difference is None else milliseconds(difference, what="the difference")
    return JoinWindows(
        before=default if before is None else milliseconds(before, what="before", negative=True),
        after=default if after is None else milliseconds(after, what="after", negative=True),
        grace=_grace(grace),
    )


def window_text(window: Windows | JoinWindows) -> str:
    """A window kind in words, for plans and the console.

    >>> window_text(tumbling("10 seconds")), window_text(session("5 min"))
    ('tumbling 10 s', 'session 5 min')
    """
    match window:
        case TimeWindows(size=size) if window.tumbling:
            text = f"tumbling {duration_text(size)}"
        case TimeWindows(size=size, advance=advance):
            text = f"hopping {duration_text(size)} by {duration_text(advance)}"
        case SlidingWindows(difference=difference):
            text = f"sliding {duration_text(difference)}"
        case SessionWindows(gap=gap):
            text = f"session {duration_text(gap)}"
        case UnlimitedWindows(start=start):
            return f"unlimited from {start}"
        case CustomWindows(size=size):
            text = f"custom up to {duration_text(size)}"
        case JoinWindows(before=before, after=after):
            text = f"join {duration_text(before)} before, {duration_text(after)} after"
    return text if window.grace == 0 else f"{text}, grace {duration_text(window.grace)}"


def _grace(grace: Duration) -> int:
    return milliseconds(grace, what="the grace period")


def _error(what: str, remedy: str) -> UsageError:
    place = here()
    return UsageError(what, where=None if place is None else str(place), remedy=remedy)
