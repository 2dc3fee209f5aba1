"""Where a reset moves an app to: the words of Kafka's own tool, in Python and on the command line."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tidemill.errors import UsageError
from tidemill.kafka.groups import read_offsets_file
from tidemill.kafka.offsets import TopicPartition, parse_duration, parse_time


@dataclass(frozen=True, slots=True)
class Target:
    """A place in the input topics. `words` is how it was said, `to` and `value` what that came to."""

    words: str
    to: str
    value: int = 0
    table: Mapping[TopicPartition, int] | None = None

    @classmethod
    def of(
        cls,
        *,
        to_earliest: bool = False,
        to_latest: bool = False,
        to_offset: int | None = None,
        to_datetime: str | None = None,
        by_duration: str | None = None,
        shift_by: int | None = None,
        from_file: str | os.PathLike[str] | None = None,
    ) -> Self:
        """The one place that was said; the beginning where none was.

        >>> Target.of(shift_by=-10).words
        'shift-by -10'
        >>> Target.of().to
        'earliest'
        """
        given: dict[str, Any] = {
            "to-earliest": to_earliest or None,
            "to-latest": to_latest or None,
            "to-offset": to_offset,
            "to-datetime": to_datetime,
            "by-duration": by_duration,
            "shift-by": shift_by,
            "from-file": from_file,
        }
        said = {name: value for name, value in given.items() if value is not None}
        if len(said) > 1:
            raise UsageError(
                f"more than one place to move to: {', '.join(said)}", remedy="say exactly one of them"
            )
        said = said or {"to-earliest": True}
        ((name, value),) = said.items()
        words = name if value is True else f"{name} {value}"
        match name:
            case "to-offset":
                return cls(words, "offset", int(value))
            case "to-datetime":
                return cls(words, "time", parse_time(value))
            case "by-duration":
                ago = parse_duration(value).total_seconds()
                return cls(words, "time", round((time.time() - ago) * 1000))
            case "shift-by":
                return cls(words, "shift", int(value))
            case "from-file":
                return cls(words, "table", table=read_offsets_file(Path(value)))
            case _:
                return cls(words, name.removeprefix("to-"))
