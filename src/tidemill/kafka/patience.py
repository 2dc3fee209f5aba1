"""Asking again where a cluster is only not ready yet."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from tidemill.errors import TidemillError

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE_SECONDS = 10.0
_PAUSE = 0.1


def patient(error: type[TidemillError]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function be called again, for a while, when it fails with an error that passes."""

    def wrap(ask: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(ask)
        def asked(*args: P.args, **kwargs: P.kwargs) -> T:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while True:
                try:
                    return ask(*args, **kwargs)
                except error:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(_PAUSE)

        return asked

    return wrap
