"""The jars that come with the PySpark package, found without importing it."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path

from tidemill.errors import SetupError


def pyspark_jar(artifact: str) -> Path:
    """The jar of `artifact`, in whichever version this PySpark has."""
    directory = _directory()
    pattern = re.compile(re.escape(artifact) + r"-\d[^/]*\.jar")
    for name in _names(directory):
        if pattern.fullmatch(name):
            return directory / name
    raise SetupError(
        f"this PySpark has no {artifact} jar",
        where=str(directory),
        remedy="`pip install --force-reinstall pyspark`",
    )


def _directory() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise SetupError("PySpark is not installed", remedy="`pip install pyspark`")
    return Path(spec.origin).parent / "jars"


@cache
def _names(directory: Path) -> tuple[str, ...]:
    return tuple(sorted(file.name for file in directory.glob("*.jar")))
