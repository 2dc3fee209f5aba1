"""Files that hold secrets: readable by their owner only, from the first byte on."""

from __future__ import annotations

import os
from pathlib import Path


def write_private(file: Path, text: str) -> None:
    """Write `text` with mode 0600, replacing the file in one step."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        part.replace(file)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
