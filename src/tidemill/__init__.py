"""Kafka Streams and ksqlDB for Python teams, executed by Spark."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tidemill._version import __version__

if TYPE_CHECKING:
    from tidemill import serdes, time, windows
    from tidemill.dsl import record, suppressed
    from tidemill.dsl.builder import StreamsBuilder
    from tidemill.dsl.global_ktable import GlobalKTable
    from tidemill.dsl.kstream import KStream
    from tidemill.dsl.ktable import KTable
    from tidemill.dsl.processor import (
        FixedKeyProcessor,
        Processor,
        ProcessorContext,
        Punctuation,
        Record,
        ValueTransformer,
    )
    from tidemill.dsl.python_fn import python_fn
    from tidemill.dsl.topology_builder import TopologyBuilder
    from tidemill.errors import TidemillError
    from tidemill.runtime.app import App
    from tidemill.serde.windowed import Windowed
    from tidemill.topology.errors import TopologyError
    from tidemill.topology.graph import Topology
    from tidemill.topology.stores import state_store

__all__ = [
    "App",
    "FixedKeyProcessor",
    "GlobalKTable",
    "KStream",
    "KTable",
    "Processor",
    "ProcessorContext",
    "Punctuation",
    "Record",
    "StreamsBuilder",
    "TidemillError",
    "Topology",
    "TopologyBuilder",
    "TopologyError",
    "ValueTransformer",
    "Windowed",
    "__version__",
    "python_fn",
    "record",
    "serdes",
    "state_store",
    "suppressed",
    "time",
    "windows",
]

_HOMES = {
    "App": "tidemill.runtime.app",
    "FixedKeyProcessor": "tidemill.dsl.processor",
    "GlobalKTable": "tidemill.dsl.global_ktable",
    "KStream": "tidemill.dsl.kstream",
    "KTable": "tidemill.dsl.ktable",
    "Processor": "tidemill.dsl.processor",
    "ProcessorContext": "tidemill.dsl.processor",
    "Punctuation": "tidemill.dsl.processor",
    "Record": "tidemill.dsl.processor",
    "StreamsBuilder": "tidemill.dsl.builder",
    "TidemillError": "tidemill.errors",
    "Topology": "tidemill.topology.graph",
    "TopologyBuilder": "tidemill.dsl.topology_builder",
    "TopologyError": "tidemill.topology.errors",
    "ValueTransformer": "tidemill.dsl.processor",
    "Windowed": "tidemill.serde.windowed",
    "python_fn": "tidemill.dsl.python_fn",
    "state_store": "tidemill.topology.stores",
}
_MODULES = {
    "record": "tidemill.dsl.record",
    "serdes": "tidemill.serdes",
    "suppressed": "tidemill.dsl.suppressed",
    "time": "tidemill.time",
    "windows": "tidemill.windows",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import tidemill` costs nothing."""
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tidemill' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
