"""What happens after a failure: try again, more and more patiently, or give up."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from tidemill.engine.failures import LASTING
from tidemill.errors import TidemillError
from tidemill.runtime.lock import AlreadyRunningError


class Reaction(StrEnum):
    """The answer to an uncaught error."""

    REPLACE = "replace"
    """Start the query again where it was."""
    SHUTDOWN = "shutdown"
    """Stop the app in state ERROR."""


ErrorHandler = Callable[[TidemillError], Reaction]

_LONGEST_PAUSE = 30.0


class Supervisor:
    """Decides on restarts. Attempts are counted since the last batch that finished."""

    def __init__(self, *, limit: int, backoff: float) -> None:
        self._limit = limit
        self._backoff = backoff
        self._attempts = 0
        self.handler: ErrorHandler | None = None

    def succeeded(self) -> None:
        """A batch finished: what failed before is over."""
        self._attempts = 0

    def decide(self, error: TidemillError) -> float | None:
        """Seconds to wait before the next attempt, None to give up."""
        reaction = self._default(error) if self.handler is None else self.handler(error)
        if reaction is Reaction.SHUTDOWN or self._attempts >= self._limit:
            return None
        pause: float = min(self._backoff * 2**self._attempts, _LONGEST_PAUSE)
        self._attempts += 1
        return pause

    def _default(self, error: TidemillError) -> Reaction:
        lasting = isinstance(error, (*LASTING, AlreadyRunningError))
        return Reaction.SHUTDOWN if lasting else Reaction.REPLACE
