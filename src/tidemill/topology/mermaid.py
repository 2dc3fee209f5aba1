"""A topology as a Mermaid flow chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemill.topology.nodes import Node, Repartition, Sink, TopicSource
from tidemill.topology.partitioning import shuffles, sub_topologies

if TYPE_CHECKING:
    from tidemill.topology.graph import Topology


def mermaid(topology: Topology) -> str:
    """The chart: topics as rounded boxes, stores as cylinders, shuffles as thick arrows."""
    ids = {name: f"n{index}" for index, name in enumerate(topology.nodes)}
    stores = {name: f"s{index}" for index, name in enumerate(topology.stores)}
    topics = {topic: f"t{index}" for index, topic in enumerate(_topics(topology))}
    lines = ["flowchart LR"]
    lines += [f'  {topics[topic]}(["{_text(topic)}"])' for topic in topics]
    for part in sub_topologies(topology):
        title = f"sub-topology {part.index}" + (" (global)" if part.is_global else "")
        lines.append(f'  subgraph p{part.index}["{title}"]')
        lines += [f'    {ids[name]}["{_label(topology[name])}"]' for name in part.nodes]
        lines += [
            f'    {stores[spec.name]}[("{_text(spec.name)}")]'
            for name in part.nodes
            for spec in topology[name].owned_stores
            if topology.store_owner(spec.name).name == name
        ]
        lines.append("  end")
    thick = {(shuffle.parent, shuffle.child) for shuffle in shuffles(topology)}
    for node in topology:
        lines += [f"  {topics[topic]} --> {ids[node.name]}" for topic in _read(node)]
        lines += [
            f"  {ids[parent]} {'==>' if (parent, node.name) in thick else '-->'} {ids[node.name]}"
            for parent in dict.fromkeys(node.parents)
        ]
        lines += [f"  {ids[node.name]} -.- {stores[spec.name]}" for spec in topology.stores_of(node.name)]
        lines += [f"  {ids[node.name]} --> {topics[topic]}" for topic in _written(node)]
    return "\n".join(lines) + "\n"


def _topics(topology: Topology) -> list[str]:
    return list(dict.fromkeys(topic for node in topology for topic in (*_read(node), *_written(node))))


def _read(node: Node) -> tuple[str, ...]:
    if not isinstance(node, TopicSource):
        return ()
    return node.topics if node.pattern is None else (node.pattern,)


def _written(node: Node) -> tuple[str, ...]:
    return (node.topic or "chosen per record",) if isinstance(node, Sink) else ()


def _label(node: Node) -> str:
    extra = f"<br/>{node.topic}" if isinstance(node, Repartition) else ""
    return f"{_text(node.name)}<br/><i>{node.type_name}</i>{extra}"


def _text(name: str) -> str:
    return name.replace('"', "#quot;")
