"""The ends of files: their last lines, and what is added while one looks."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path


def last_lines(path: Path, count: int) -> list[str]:
    """The last lines of a text file."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return [line.rstrip("\n") for line in deque(file, maxlen=count)]


def follow_files(paths: Sequence[Path], *, pause: float = 0.3) -> Iterator[tuple[Path, str]]:
    """Lines as they are added, for ever; a file that was rolled over is read from its new beginning."""
    places = {path: path.stat().st_size for path in paths}
    while True:
        for path in paths:
            try:
                size = path.stat().st_size
                if size < places[path]:
                    places[path] = 0
                if size == places[path]:
                    continue
                with path.open("rb") as file:
                    file.seek(places[path])
                    added = file.read(size - places[path])
            except FileNotFoundError:
                continue
            whole = added[: added.rfind(b"\n") + 1]
            places[path] += len(whole)
            yield from ((path, line) for line in whole.decode(errors="replace").splitlines())
        time.sleep(pause)
