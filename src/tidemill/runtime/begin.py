"""Where an app begins after a reset: written by the reset, kept to by the next first batch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tidemill.errors import TidemillError
from tidemill.kafka.private import write_private

BEGIN = "begin.json"
INTENT = "reset.json"

Begin = dict[str, dict[int, int]]
"""Offsets by topic and partition."""


class ResetUnfinishedError(TidemillError):
    """A reset was interrupted: what is left of the state means nothing."""

    code = "RESET_UNFINISHED"


def write_begin(folder: Path, offsets: Mapping[tuple[str, int], int]) -> None:
    """Keep the place to begin."""
    topics: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in offsets.items():
        topics.setdefault(topic, {})[str(partition)] = offset
    write_private(folder / BEGIN, json.dumps({"offsets": topics}, indent=1))


def read_begin(folder: Path, committed: Mapping[tuple[str, int], int]) -> Begin | None:
    """The place to begin, None if no reset said one.

    The reset gave the app's group the same offsets. Where the group has others by now the app has run since:
    then its state was lost, which is another matter than a reset.
    """
    try:
        data = json.loads((folder / BEGIN).read_text(encoding="utf-8"))["offsets"]
    except FileNotFoundError:
        return None
    begin = {topic: {int(part): offset for part, offset in parts.items()} for topic, parts in data.items()}
    for topic, parts in begin.items():
        for part, offset in parts.items():
            if committed.get((topic, part), offset) != offset:
                return None
    return begin


def forget_begin(folder: Path) -> None:
    """The app has state of its own: it goes by that from now on."""
    (folder / BEGIN).unlink(missing_ok=True)


def refuse_unfinished_reset(application_id: str, folder: Path) -> None:
    """Do not start on what an interrupted reset left."""
    if (folder / INTENT).exists():
        raise ResetUnfinishedError(
            f"a reset of `{application_id}` was interrupted",
            where=str(folder),
            remedy=f"finish it with `tidemill app reset {application_id}`",
        )
