"""What the user's code raised, with its step and line, in a form that survives the way to the driver."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tidemill.engine.handlers import PROCESSING

_PACKAGE = str(Path(__file__).parents[2]) + "/"
_LONGEST_TRACE = 4000

Header = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """The record of a topic that something was made from; `raw` is it as it was read, where it is kept."""

    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    raw: Any = None


NOWHERE: Final = Origin()
"""No record: a punctuator is at work."""


class ProcessingError(Exception):
    """A user's processor or function raised; its text is JSON that the engine reads back."""

    def __init__(
        self, node: str, error: BaseException, declared: str | None, origin: Origin = NOWHERE
    ) -> None:
        lines = "".join(traceback.format_exception_only(error)).strip().splitlines()
        self.node, self.error, self.declared = node, error, declared
        self.is_final = False
        self.message = " ".join(line.strip() for line in lines)
        told = {
            "node": node,
            "error": self.message,
            "place": _place(error) or declared,
            "topic": origin.topic,
            "partition": origin.partition,
            "offset": origin.offset,
        }
        super().__init__(json.dumps(told))

    def of(self, origin: Origin) -> ProcessingError:
        """The same, told with the record it happened to."""
        return ProcessingError(self.node, self.error, self.declared, origin)

    def headers(self, origin: Origin, application_id: str) -> list[Header]:
        """The headers of the record's dead letter."""
        kind = type(self.error)
        module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
        trace = "".join(traceback.format_exception(self.error))
        time = None if origin.raw is None else origin.raw["time"]
        told = {
            "kind": PROCESSING,
            "application.id": application_id,
            "node": self.node,
            "exception": f"{module}{kind.__qualname__}",
            "message": str(self.error) or kind.__name__,
            "stacktrace": trace[-_LONGEST_TRACE:],
            "topic": origin.topic,
            "partition": origin.partition,
            "offset": origin.offset,
            "timestamp": time,
        }
        own: Sequence[Any] = () if origin.raw is None else origin.raw["headers"] or ()
        before = [{"key": header["key"], "value": header["value"]} for header in own]
        return before + [
            {"key": f"__streams.errors.{name}", "value": str(value).encode()}
            for name, value in told.items()
            if value is not None
        ]


class StateError(Exception):
    """Spark's state could not be read or written: no record is to blame."""


@contextmanager
def user_code(node: str, declared: str | None) -> Iterator[None]:
    """What is raised inside is told as a failure of this step; that of a step further down stays its own."""
    try:
        yield
    except (ProcessingError, StateError):
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
