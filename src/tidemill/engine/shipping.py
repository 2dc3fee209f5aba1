"""How code reaches Spark's Python workers: packages by name, a program's own file by value."""

from __future__ import annotations

from types import ModuleType


def ship_by_value(module: ModuleType) -> None:
    """Send what a module defines along with the work, since workers have no file to import it from."""
    from pyspark.cloudpickle import register_pickle_by_value

    register_pickle_by_value(module)  # type: ignore[no-untyped-call]
