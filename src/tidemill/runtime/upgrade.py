"""Whether a changed topology can go on with the state of the one before: verdicts on stores and steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tidemill.runtime.checkpoint import IncompatibleError, Note
from tidemill.topology.compatibility import Verdict, compare
from tidemill.topology.nodes import Kind
from tidemill.topology.nodes.source import ResetPolicy

Subject = Literal["store", "plan", "source", "step"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What becomes of one store, source or step, and why."""

    kind: Subject
    name: str
    verdict: Verdict
    reason: str

    @property
    def stands_in_the_way(self) -> bool:
        """Whether the app would refuse to start."""
        return self.verdict in (Verdict.RESET, Verdict.REFUSED)

    def __str__(self) -> str:
        return f"{self.name}: {self.verdict} ({self.reason})"


def judge(old: Note, new: Note) -> list[Judgement]:
    """Every verdict: stores first, then what concerns the plan as a whole, then sources and steps."""
    return [*_stores(old, new), *_plan(old, new), *_sources(old, new), *_steps(old, new)]


def refuse_lost_state(old: Note, new: Note, folder: Path) -> None:
    """Refuse a topology that cannot go on with the state there is."""
    reasons = [str(judgement) for judgement in judge(old, new) if judgement.stands_in_the_way]
    if reasons:
        raise IncompatibleError(
            "the topology changed in a way the state does not survive:\n  " + "\n  ".join(reasons),
            where=str(folder),
            remedy="undo the change, use another application id, or reset the app",
        )


def _stores(old: Note, new: Note) -> Iterator[Judgement]:
    for store in compare(old.topology, new.topology).stores:
        level, before = new.levels.get(store.store), old.levels.get(store.store)
        if store.verdict is Verdict.KEPT and before is not None and level != before:
            reason = "it moved behind another shuffle"
            yield Judgement("store", store.store, Verdict.RESET, reason)
        else:
            yield Judgement("store", store.store, store.verdict, store.reason)


def _plan(old: Note, new: Note) -> Iterator[Judgement]:
    if old.operators is None:  # a note of an earlier version
        before, after = (old.depth, new.depth) if old.levels else (0, 0)
    else:
        before, after = old.operators, new.operators or 0
    if before != after:
        reason = f"the plan has {after} levels with state now, it had {before}"
        yield Judgement("plan", "levels", Verdict.RESET, reason)
    readers, earlier = len(_readers(new.topology)), len(_readers(old.topology))
    if readers != earlier:
        reason = (
            f"it has {readers} readers now, it had {earlier}: one for each pattern, each reset policy"
            " and the clock of processors"
        )
        yield Judgement("plan", "readers", Verdict.RESET, reason)


def _sources(old: Note, new: Note) -> Iterator[Judgement]:
    before, after = _topics(old.topology), _topics(new.topology)
    for topic in after:
        if topic in before:
            yield Judgement("source", topic, Verdict.KEPT, "it goes on where it was")
        else:
            yield Judgement("source", topic, Verdict.NEW, "it is read from its beginning")
    for topic in before:
        if topic not in after:
            reason = "nothing reads it any more, and Spark takes a topic that is gone for lost records"
            yield Judgement("source", topic, Verdict.RESET, reason)


def _steps(old: Note, new: Note) -> Iterator[Judgement]:
    before, after = _nodes(old.topology), _nodes(new.topology)
    for name, node in after.items():
        if name not in before:
            yield Judgement("step", name, Verdict.NEW, f"a {node['type']}")
        elif before[name] == node:
            yield Judgement("step", name, Verdict.KEPT, "nothing changed")
        else:
            changed = sorted(key for key in {*node, *before[name]} if node.get(key) != before[name].get(key))
            yield Judgement("step", name, Verdict.KEPT, f"its {' and '.join(changed)} changed")
    for name, node in before.items():
        if name not in after:
            yield Judgement("step", name, Verdict.DROPPED, f"it was a {node['type']}")


def _nodes(plan: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {node["name"]: node for node in plan["nodes"]}


def _topics(plan: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(topic for node in plan["nodes"] for topic in node.get("topics", ())))


def _readers(plan: Mapping[str, Any]) -> set[str]:
    """Spark keeps offsets by the position of a reader; see `engine.kafka.read_sources` for who shares one."""
    found: set[str] = set()
    for node in plan["nodes"]:
        if "pattern" in node:
            found.add(f"pattern of {node['name']}")
        elif "topics" in node:
            reset = {} if node["kind"] == Kind.GLOBAL_TABLE.value else node.get("offset_reset", {})
            found.add(f"{reset.get('policy', ResetPolicy.EARLIEST.value)} {reset.get('duration', '')}")
        if isinstance(node.get("supplier"), Mapping):
            found.add("clock of processors")
    return found
