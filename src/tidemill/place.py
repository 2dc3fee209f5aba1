"""Where in the user's own files something was said: the line an error or a plan points at."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from pathlib import Path
from types import FrameType


@dataclass(frozen=True, slots=True)
class Place:
    """One line of the user's code.

    >>> print(Place("orders.py", 12, "orders.to('sums')"))
    orders.py:12
    """

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def here() -> Place | None:
    """The innermost line outside the Tidemill package that led to this call.

    >>> here().text
    'here().text'
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Place(file, line, linecache.getline(file, line, frame.f_globals).strip())


_PACKAGE = str(Path(__file__).parent) + "/"


def _is_ours(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    if file.startswith(_PACKAGE):
        return True
    # The __init__ that dataclasses write has no file; its globals are those of the class's module.
    return file == "<string>" and str(frame.f_globals.get("__name__", "")).startswith("tidemill.")
