"""Shows how a download goes: a bar on a terminal, plain lines elsewhere. Always on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from rich.progress import TaskID

    from tidemill.kafka.maven import Jar


class Progress(Protocol):
    """Is told about downloads; calls come from several threads."""

    def begin(self, jars: Sequence[Jar]) -> None:
        """These files will be fetched."""

    def at(self, jar: Jar, size: int) -> None:
        """This many bytes of the file have arrived."""

    def done(self, jar: Jar) -> None:
        """The file is complete and verified."""

    def end(self) -> None:
        """No more will come, be it for success or failure."""


def default_progress() -> Progress:
    """The bar where stderr is a terminal, lines otherwise."""
    return Bar() if sys.stderr.isatty() else Lines()


class Silent:
    """Says nothing."""

    def begin(self, jars: Sequence[Jar]) -> None:
        pass

    def at(self, jar: Jar, size: int) -> None:
        pass

    def done(self, jar: Jar) -> None:
        pass

    def end(self) -> None:
        pass


class Lines(Silent):
    """One line when it begins, one per finished file."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._total = 0
        self._finished = 0

    def begin(self, jars: Sequence[Jar]) -> None:
        self._total = len(jars)
        self._print(f"tidemill: fetching {len(jars)} files, {_mebibytes(sum(jar.size for jar in jars))}")

    def done(self, jar: Jar) -> None:
        self._finished += 1
        self._print(f"tidemill: {self._finished}/{self._total} {jar.name} ({_mebibytes(jar.size)})")

    def _print(self, line: str) -> None:
        print(line, file=self._stream or sys.stderr, flush=True)


class Bar:
    """One bar over all bytes."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(binary_units=True),
            TransferSpeedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: TaskID | None = None
        self._sizes: dict[Jar, int] = {}

    def begin(self, jars: Sequence[Jar]) -> None:
        self._task = self._bar.add_task(f"Fetching {len(jars)} jars", total=sum(jar.size for jar in jars))
        self._bar.start()

    def at(self, jar: Jar, size: int) -> None:
        self._sizes[jar] = size
        if self._task is not None:
            self._bar.update(self._task, completed=sum(list(self._sizes.values())))

    def done(self, jar: Jar) -> None:
        self.at(jar, jar.size)

    def end(self) -> None:
        self._bar.stop()


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"
