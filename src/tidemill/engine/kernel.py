"""The kernel jar: our Java operators for Spark, shipped inside the package."""

from __future__ import annotations

from pathlib import Path

from tidemill.errors import SetupError


def kernel_jar() -> Path:
    """Where the kernel is; it is part of every wheel and built by `make kernel` in a checkout."""
    jar = Path(__file__).with_name("kernel.jar")
    if not jar.is_file():
        raise SetupError(
            "the Java kernel has not been built", where=str(jar), remedy="run `make kernel` in the repository"
        )
    return jar
