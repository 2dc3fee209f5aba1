"""The Python front end: Kafka Streams' verbs in snake_case, which declare a topology."""

from tidemill.dsl.branched import BranchedKStream
from tidemill.dsl.builder import StreamsBuilder
from tidemill.dsl.cogrouped import CogroupedKStream, WindowedCogroupedKStream
from tidemill.dsl.global_ktable import GlobalKTable
from tidemill.dsl.grouped import KGroupedStream
from tidemill.dsl.grouped_table import KGroupedTable
from tidemill.dsl.kstream import KStream
from tidemill.dsl.ktable import KTable
from tidemill.dsl.processor import (
    Cancellable,
    FixedKeyProcessor,
    Processor,
    ProcessorContext,
    Punctuation,
    Record,
    RecordMetadata,
    ValueTransformer,
)
from tidemill.dsl.python_fn import python_fn
from tidemill.dsl.state import (
    KeyValueStore,
    SessionStore,
    ValueAndTimestamp,
    VersionedKeyValueStore,
    VersionedRecord,
    WindowStore,
)
from tidemill.dsl.suppressed import Suppressed
from tidemill.dsl.topology_builder import TopologyBuilder
from tidemill.dsl.windowed import SessionWindowedKStream, TimeWindowedKStream
from tidemill.topology.stores import state_store

__all__ = [
    "BranchedKStream",
    "Cancellable",
    "CogroupedKStream",
    "FixedKeyProcessor",
    "GlobalKTable",
    "KGroupedStream",
    "KGroupedTable",
    "KStream",
    "KTable",
    "KeyValueStore",
    "Processor",
    "ProcessorContext",
    "Punctuation",
    "Record",
    "RecordMetadata",
    "SessionStore",
    "SessionWindowedKStream",
    "StreamsBuilder",
    "Suppressed",
    "TimeWindowedKStream",
    "TopologyBuilder",
    "ValueAndTimestamp",
    "ValueTransformer",
    "VersionedKeyValueStore",
    "VersionedRecord",
    "WindowStore",
    "WindowedCogroupedKStream",
    "python_fn",
    "state_store",
]
