"""Where a cluster's files lie below its directory."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The directory of one cluster; everything in it is private to its owner."""

    root: Path

    def create(self) -> None:
        for directory in (self.root, self.security):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)

    def remove(self) -> None:
        """Delete the cluster's files; others that were put there stay."""
        for directory in (self.security, *self.root.glob("node-*")):
            shutil.rmtree(directory, ignore_errors=True)
        self.state.unlink(missing_ok=True)
        with suppress(OSError):
            self.root.rmdir()

    @property
    def state(self) -> Path:
        return self.root / "cluster.json"

    @property
    def security(self) -> Path:
        return self.root / "security"

    def node(self, node: int) -> Path:
        return self.root / f"node-{node}"

    def data(self, node: int) -> Path:
        return self.node(node) / "data"

    def properties(self, node: int) -> Path:
        return self.node(node) / "server.properties"

    def logging(self, node: int) -> Path:
        return self.node(node) / "log4j2.properties"

    def log(self, node: int) -> Path:
        return self.node(node) / "kafka.log"

    def output(self, node: int) -> Path:
        """What the JVM itself prints: normally nothing."""
        return self.node(node) / "jvm.out"
