"""The public surface: a golden file lists it, every part explains itself with an example."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields
from enum import Enum
from types import ModuleType
from typing import Any

import pytest

import tidemill
from tidemill import dsl, record, serdes, suppressed, windows
from tidemill import time as times
from tidemill.topology import Topology, nodes

CLASSES = [getattr(dsl, name) for name in dsl.__all__ if inspect.isclass(getattr(dsl, name))]
VERBS = [
    dsl.StreamsBuilder,
    dsl.TopologyBuilder,
    dsl.KStream,
    dsl.KTable,
    dsl.KGroupedStream,
    dsl.KGroupedTable,
    dsl.TimeWindowedKStream,
    dsl.SessionWindowedKStream,
    dsl.CogroupedKStream,
    dsl.WindowedCogroupedKStream,
    dsl.BranchedKStream,
    dsl.GlobalKTable,
]


def test_surface(golden: Callable[[str, str], None]) -> None:
    lines = ["tidemill", *(f"  {name}" for name in tidemill.__all__ if name != "__version__")]
    for kind in [*CLASSES, Topology]:
        lines += ["", f"{kind.__module__}.{kind.__name__}"]
        lines += [f"  {name}{_signature(member)}" for name, member in _members(kind)]
    for module in (windows, times, serdes, suppressed, record):
        lines += ["", module.__name__, *(f"  {name}" for name in _functions(module))]
    lines += ["", "tidemill.topology.nodes", *(f"  {line}" for line in _nodes())]
    golden("public_surface.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("kind", VERBS, ids=lambda kind: kind.__name__)
def test_every_verb_has_an_example(kind: type) -> None:
    bare = [name for name, member in _members(kind) if ">>>" not in (inspect.getdoc(member) or "")]
    assert bare == []


@pytest.mark.parametrize("name", tidemill.__all__)
def test_every_name_can_be_imported(name: str) -> None:
    assert getattr(tidemill, name) is not None


def test_unknown_name_is_told() -> None:
    with pytest.raises(AttributeError, match="no attribute 'KStreem'"):
        tidemill.KStreem  # noqa: B018


def test_names_are_listed() -> None:
    assert dir(tidemill) == sorted(tidemill.__all__)


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    if issubclass(kind, Enum):
        yield from ((name, property()) for name in kind.__members__)
        return
    for name, member in inspect.getmembers(kind):
        if not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, property)):
            yield name, member


def _signature(member: Any) -> str:
    if isinstance(member, property):
        return ""
    names = [
        f"**{p.name}" if p.kind is p.VAR_KEYWORD else f"*{p.name}" if p.kind is p.VAR_POSITIONAL else p.name
        for p in inspect.signature(member).parameters.values()
    ]
    return f"({', '.join(name for name in names if name != 'self')})"


def _functions(module: ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    own = [
        name
        for name, member in vars(module).items()
        if not name.startswith("_") and getattr(member, "__module__", None) == module.__name__
    ]
    return sorted(listed or own)


def _nodes() -> Iterator[str]:
    for name in nodes.__all__:
        kind = getattr(nodes, name)
        if inspect.isclass(kind) and issubclass(kind, nodes.Node):
            own = [f.name for f in fields(kind) if f.name not in ("name", "parents", "place")]
            yield f"{name}({', '.join(own)}) -> {kind.kind}"
