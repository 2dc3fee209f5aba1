"""SIGINT and SIGTERM as a wish to stop, for as long as an app runs in the main thread."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signal(ask: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Call `ask` on the first signal; a second one ends the process as usual.

    Yields a function that takes the handlers again, for when a library has put its own in their place.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def handle(_number: int, _frame: object) -> None:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        ask()

    def install() -> None:
        for number in _SIGNALS:
            signal.signal(number, handle)

    install()
    try:
        yield install
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
