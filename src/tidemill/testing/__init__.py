"""Test helpers: a driver that runs a topology from memory, and pytest fixtures with a real broker."""

from typing import Any

__all__ = ["TestRecord", "TopologyTestDriver"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from tidemill.testing import driver

        return getattr(driver, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
