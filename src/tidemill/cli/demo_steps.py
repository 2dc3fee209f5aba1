"""What the demo is doing until there is something to see: a line for every step, with its time."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from tidemill.cli.output import Output


class Steps:
    """Says on standard error what is being done and how long it took; on a terminal also while it is."""

    def __init__(self, out: Output, asked: threading.Event) -> None:
        self.asked = asked
        self._out = out
        self._began = time.monotonic()

    @property
    def total(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._began

    @contextmanager
    def __call__(self, label: str) -> Iterator[Callable[[str], None]]:
        """One step; it may say a word on its result, which ends its line."""
        if self.asked.is_set():
            raise KeyboardInterrupt
        began = time.monotonic()
        said = False
        spinner = self._spinner(label)
        spinner.__enter__()

        def say(detail: str) -> None:
            nonlocal said
            said = True
            spinner.__exit__(None, None, None)
            text = f"{label:<26}{time.monotonic() - began:>6.1f} s   {detail}"
            self._out.note(text.rstrip())

        try:
            yield say
        finally:
            if not said:
                spinner.__exit__(None, None, None)
        if not said and not self.asked.is_set():
            said = True
            self._out.note(f"{label:<26}{time.monotonic() - began:>6.1f} s")

    def _spinner(self, label: str) -> Any:
        if self._out.quiet or not sys.stderr.isatty():
            return nullcontext()
        from rich.console import Console

        return Console(stderr=True).status(f"{label} ...", spinner="dots")
