"""A topology in the text form of Kafka Streams, which people diff and tools draw."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemill.topology.nodes import (
    GlobalStore,
    GlobalTableSource,
    Node,
    Repartition,
    Sink,
    TableSource,
    TopicSource,
)
from tidemill.topology.partitioning import SubTopology, is_global, shuffles, sub_topologies

if TYPE_CHECKING:
    from tidemill.topology.graph import Topology


def describe(topology: Topology) -> str:
    """The text: sub-topologies, their nodes with topics and stores, and the arrows between them."""
    boxes = _boxes(topology)
    lines = ["Topologies:"]
    for part in sub_topologies(topology):
        suffix = " for global store (will not generate tasks)" if part.is_global else ""
        lines.append(f"   Sub-topology: {part.index}{suffix}")
        lines += [line for box in _of_part(part, boxes) for line in box.lines()]
        lines.append("")
    return "\n".join(lines)


@dataclass
class _Box:
    """One entry of the text; a node of ours may take several."""

    role: str
    name: str
    detail: str
    owner: str
    into: list[str] = field(default_factory=list)
    out_of: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        head = [f"    {self.role}: {self.name} ({self.detail})"]
        children = [f"      --> {', '.join(self.into) or 'none'}"] if self.role != "Sink" else []
        parents = [f"      <-- {', '.join(self.out_of) or 'none'}"] if self.role != "Source" else []
        return head + children + parents


def _boxes(topology: Topology) -> dict[str, _Box]:
    boxes: dict[str, _Box] = {}
    for node in topology:
        for box in _boxes_of(topology, node):
            boxes[box.name] = box
    cut = {(shuffle.parent, shuffle.child): shuffle for shuffle in shuffles(topology)}
    for node in topology:
        for parent in dict.fromkeys(node.parents):
            shuffle = cut.get((parent, node.name))
            if shuffle is None:
                if not is_global(topology[parent]):
                    _link(boxes, parent, node.name)
                continue
            sink = _Box("Sink", f"{shuffle.topic}-sink", f"topic: {shuffle.topic}", parent)
            boxes[sink.name] = sink
            _link(boxes, parent, sink.name)
            if not isinstance(node, Repartition):
                source = _Box("Source", f"{shuffle.topic}-source", f"topics: [{shuffle.topic}]", node.name)
                boxes[source.name] = source
                _link(boxes, source.name, node.name)
    return boxes


def _boxes_of(topology: Topology, node: Node) -> list[_Box]:
    stores = f"stores: [{', '.join(store.name for store in topology.stores_of(node.name))}]"
    match node:
        case TableSource() | GlobalTableSource() | GlobalStore():
            source = _Box("Source", f"{node.name}-source", _topics(node), node.name, into=[node.name])
            return [source, _Box("Processor", node.name, stores, node.name, out_of=[source.name])]
        case TopicSource():
            return [_Box("Source", node.name, _topics(node), node.name)]
        case Repartition():
            return [_Box("Source", node.name, f"topics: [{node.topic}]", node.name)]
        case Sink():
            topic = f"topic: {node.topic}" if node.topic is not None else "extractor class: chooser"
            return [_Box("Sink", node.name, topic, node.name)]
        case _:
            return [_Box("Processor", node.name, stores, node.name)]


def _topics(source: TopicSource) -> str:
    return f"topics: [{', '.join(source.topics)}]" if source.pattern is None else f"topics: {source.pattern}"


def _link(boxes: dict[str, _Box], parent: str, child: str) -> None:
    boxes[parent].into.append(child)
    boxes[child].out_of.append(parent)


def _of_part(part: SubTopology, boxes: dict[str, _Box]) -> list[_Box]:
    members = [box for box in boxes.values() if box.owner in part.nodes]
    roles = ("Source", "Processor", "Sink")
    return sorted(members, key=lambda box: (part.nodes.index(box.owner), roles.index(box.role)))
