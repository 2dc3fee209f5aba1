"""Where Tidemill keeps files on this machine: the cache, and the data of development clusters."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir() -> Path:
    """What may be deleted at any time: downloaded jars, class archives, the Java wrapper.

    `TIDEMILL_CACHE_DIR`, else `$XDG_CACHE_HOME/tidemill`, else `~/.cache/tidemill`.
    """
    return _directory("TIDEMILL_CACHE_DIR", "XDG_CACHE_HOME", Path(".cache"))


def data_dir() -> Path:
    """What should stay: the records and the run state of development clusters.

    `TIDEMILL_DATA_DIR`, else `$XDG_DATA_HOME/tidemill`, else `~/.local/share/tidemill`.
    """
    return _directory("TIDEMILL_DATA_DIR", "XDG_DATA_HOME", Path(".local/share"))


def _directory(own: str, xdg: str, below_home: Path) -> Path:
    if given := os.environ.get(own):
        return Path(given).expanduser().absolute()
    base = Path(os.environ.get(xdg, ""))
    # The XDG rule: a relative path there is invalid and ignored.
    return (base if base.is_absolute() else Path.home() / below_home) / "tidemill"
