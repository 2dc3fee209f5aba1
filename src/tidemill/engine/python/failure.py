"""What the user's code raised, with its step and line, in a form that survives the way to the driver."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[2]) + "/"


class ProcessingError(Exception):
    """A user's processor or function raised; its text is JSON that the engine reads back."""

    def __init__(self, node: str, error: BaseException, declared: str | None) -> None:
        lines = "".join(traceback.format_exception_only(error)).strip().splitlines()
        told = {
            "node": node,
            "error": " ".join(line.strip() for line in lines),
            "place": _place(error) or declared,
        }
        super().__init__(json.dumps(told))


@contextmanager
def user_code(node: str, declared: str | None) -> Iterator[None]:
    """What is raised inside is told as a failure of this step; that of a step further down stays its own."""
    try:
        yield
    except ProcessingError:
        raise
    except Exception as error:  # whatever it is, it belongs to the user's step
        raise ProcessingError(node, error, declared) from error


def _place(error: BaseException) -> str | None:
    """The innermost line outside Tidemill and Python's own library."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_PACKAGE, "<"))
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else None
