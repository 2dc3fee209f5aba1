"""The topology: what a program does, as plain data that knows neither Spark nor Kafka."""

from tidemill.place import Place
from tidemill.topology.errors import TopologyError
from tidemill.topology.functions import PythonFunction
from tidemill.topology.graph import Topology
from tidemill.topology.nodes import Kind, Node, StoreKind, StoreSpec
from tidemill.topology.partitioning import Shuffle, SubTopology
from tidemill.topology.validation import problems, validate

__all__ = [
    "Kind",
    "Node",
    "Place",
    "PythonFunction",
    "Shuffle",
    "StoreKind",
    "StoreSpec",
    "SubTopology",
    "Topology",
    "TopologyError",
    "problems",
    "validate",
]
