"""The states of an app, the moves between them, and who is told."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from enum import StrEnum

from tidemill.errors import UsageError

log = logging.getLogger(__name__)


class State(StrEnum):
    """What an app is doing."""

    CREATED = "CREATED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    ERROR = "ERROR"
    STOPPING = "STOPPING"
    STOPPED = "STOPPED"


Listener = Callable[[State, State], object]
"""Called with the new state and the old one."""

_MOVES = {
    State.CREATED: {State.STARTING, State.STOPPING},
    State.STARTING: {State.RUNNING, State.ERROR, State.STOPPING},
    State.RUNNING: {State.PAUSED, State.STARTING, State.STOPPING, State.ERROR},
    State.PAUSED: {State.RUNNING, State.STARTING, State.STOPPING, State.ERROR},
    State.STOPPING: {State.STOPPED, State.ERROR},
    State.STOPPED: {State.STARTING},
    State.ERROR: {State.STARTING, State.STOPPING},
}


class StateMachine:
    """The state of one app; moves that make no sense are refused."""

    def __init__(self) -> None:
        self._state = State.CREATED
        self._changed = threading.Condition()
        self._listeners: list[Listener] = []

    @property
    def state(self) -> State:
        """The state now."""
        return self._state

    def listen(self, listener: Listener) -> None:
        """Have a function called on every change."""
        self._listeners.append(listener)

    def move(self, new: State) -> None:
        """Go to another state and tell everybody."""
        with self._changed:
            old = self._state
            if new not in _MOVES[old]:
                raise UsageError(
                    f"the app is {old}: it cannot become {new}", remedy="wait for the app, or stop it first"
                )
            self._state = new
            self._changed.notify_all()
        for listener in self._listeners:
            try:
                listener(new, old)
            except Exception:  # a listener's mistake must not stop the app
                log.exception("a state listener failed")

    def wait_for(self, *states: State, timeout: float | None = None) -> bool:
        """Wait until the app is in one of these states; False if the time is over first."""
        with self._changed:
            return self._changed.wait_for(lambda: self._state in states, timeout)
