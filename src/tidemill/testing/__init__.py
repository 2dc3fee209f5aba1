"""Test helpers: a driver that runs a topology from memory, and pytest fixtures with a real broker."""

from typing import Any

__all__ = ["MockProcessorContext", "TestInputTopic", "TestOutputTopic", "TestRecord", "TopologyTestDriver"]

_ROOMS = {"MockProcessorContext": "mock", "TopologyTestDriver": "driver"}


def __getattr__(name: str) -> Any:
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"tidemill.testing.{_ROOMS.get(name, 'topics')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
