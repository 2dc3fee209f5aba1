"""Whether a changed topology may go on with the state of the one before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tidemill.errors import UsageError
from tidemill.topology.plan import VERSION

Plan = Mapping[str, Any]
"""What `Topology.to_json()` returns."""


class Verdict(StrEnum):
    """What becomes of a store."""

    KEPT = "kept"
    NEW = "new"
    DROPPED = "dropped"
    RESET = "needs reset"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class StoreVerdict:
    """The verdict on one store, and why.

    >>> print(StoreVerdict("totals", Verdict.RESET, "its keys changed from string to int"))
    totals: needs reset (its keys changed from string to int)
    """

    store: str
    verdict: Verdict
    reason: str

    def __str__(self) -> str:
        return f"{self.store}: {self.verdict} ({self.reason})"


@dataclass(frozen=True, slots=True)
class Compatibility:
    """All verdicts, in the order of the new plan, then of what is gone."""

    stores: tuple[StoreVerdict, ...]

    @property
    def may_go_on(self) -> bool:
        """Whether the new topology may start on the old state as it is."""
        return not any(store.verdict in (Verdict.RESET, Verdict.REFUSED) for store in self.stores)

    def __str__(self) -> str:
        return "\n".join(map(str, self.stores)) or "no stores"


def compare(old: Plan, new: Plan) -> Compatibility:
    """The verdict on each store when `new` takes over from `old`.

    A store under the same name is kept when what is in it still means the same. One that vanished while
    another of its shape came up is taken for a rename, which would silently begin at nothing: refused.

    >>> from tidemill import StreamsBuilder
    >>> def plan(store):
    ...     builder = StreamsBuilder()
    ...     _ = builder.stream("orders").group_by_key().count(store=store)
    ...     return builder.build().to_json()
    >>> print(compare(plan("totals"), plan("totals")))
    totals: kept (nothing changed)
    >>> print(compare(plan("totals"), plan("sums")))
    sums: refused (it looks like `totals` under another name: keep that name, or reset `totals`)
    totals: dropped (no step keeps it any more)
    """
    before, after = _stores(old), _stores(new)
    gone = [name for name in before if name not in after]
    verdicts = [
        _judge(store, before.get(name), [before[other] for other in gone]) for name, store in after.items()
    ]
    dropped = [StoreVerdict(name, Verdict.DROPPED, "no step keeps it any more") for name in gone]
    return Compatibility((*verdicts, *dropped))


@dataclass(frozen=True, slots=True)
class _Store:
    """A store with what decides over its content."""

    spec: Mapping[str, Any]
    owner: Mapping[str, Any]
    sources: tuple[str, ...]

    @property
    def name(self) -> str:
        return str(self.spec["name"])

    @property
    def shape(self) -> tuple[object, ...]:
        return (self.owner["type"], *(value for _, value in _meaning(self)), self.sources)


def _judge(store: _Store, before: _Store | None, gone: list[_Store]) -> StoreVerdict:
    if before is None:
        twin = next((other for other in gone if other.shape == store.shape), None)
        if twin is None:
            return StoreVerdict(store.name, Verdict.NEW, "it begins empty")
        reason = f"it looks like `{twin.name}` under another name: keep that name, or reset `{twin.name}`"
        return StoreVerdict(store.name, Verdict.REFUSED, reason)
    changes = list(_changes(before, store))
    if changes:
        return StoreVerdict(store.name, Verdict.RESET, "; ".join(changes))
    notes = list(_notes(before, store))
    return StoreVerdict(store.name, Verdict.KEPT, "; ".join(notes) or "nothing changed")


def _changes(before: _Store, after: _Store) -> Iterator[str]:
    if before.owner["type"] != after.owner["type"]:
        yield f"it is kept by a {after.owner['type']} now, it was by a {before.owner['type']}"
        return
    for (what, old), (_, new) in zip(_meaning(before), _meaning(after), strict=True):
        if old != new and not _is_left_open(what, old, new):
            yield f"its {what} changed from {old or 'none'} to {new or 'none'}"


def _notes(before: _Store, after: _Store) -> Iterator[str]:
    if before.owner["name"] != after.owner["name"]:
        yield f"its step is called `{after.owner['name']}` now, it was `{before.owner['name']}`"
    if before.sources != after.sources:
        yield f"it is fed by {', '.join(after.sources)} now, it was by {', '.join(before.sources)}"
    for option in ("retention", "caching", "logging", "queryable"):
        old, new = before.spec.get(option), after.spec.get(option)
        if old != new:
            yield f"{option} is {new} now, it was {old}"
    for (what, old), (_, new) in zip(_meaning(before), _meaning(after), strict=True):
        if old != new and _is_left_open(what, old, new):
            yield f"the serde of its {what} is {new or 'left to their type'} now"
    if _grace(before) != _grace(after):
        yield f"grace is {_grace(after)} ms now, it was {_grace(before)} ms"


def _meaning(store: _Store) -> list[tuple[str, str]]:
    """What must stay the same for the content to mean the same."""
    owner = store.owner
    return [
        ("kind", str(store.spec["kind"])),
        ("keys", _serde(store.spec.get("key"))),
        ("values", _serde(store.spec.get("value"))),
        ("timestamps", "timestamps" if store.spec.get("timestamped") else ""),
        ("operation", str(owner.get("op", {}).get("type", ""))),
        ("join", str(owner.get("how", ""))),
        ("windows", _window(owner.get("window"))),
    ]


def _is_left_open(what: str, old: str, new: str) -> bool:
    """A serde that one plan leaves to the engine is no change that a plan can see."""
    return what in ("keys", "values") and not (old and new)


def _serde(serde: Mapping[str, Any] | None) -> str:
    return "" if serde is None else f"{serde['format']} ({serde['schema']})"


def _window(window: Mapping[str, Any] | None) -> str:
    if window is None:
        return ""
    sizes = (f"{name} {value}" for name, value in window.items() if name not in ("type", "grace", "assign"))
    return f"{window['type']} ({', '.join(sizes)})"


def _grace(store: _Store) -> int:
    return int((store.owner.get("window") or {}).get("grace", 0))


def _stores(plan: Plan) -> dict[str, _Store]:
    if plan["version"] > VERSION:
        raise UsageError(
            f"the plan has version {plan['version']}, this Tidemill reads up to {VERSION}",
            remedy="start the app with the newer Tidemill that wrote the plan",
        )
    nodes = {node["name"]: node for node in plan["nodes"]}
    return {
        spec["name"]: _Store(spec, nodes[spec["owner"]], _sources(nodes, spec["owner"]))
        for spec in plan["stores"]
    }


def _sources(nodes: Mapping[str, Mapping[str, Any]], name: str) -> tuple[str, ...]:
    node = nodes[name]
    own = [*node.get("topics", ()), *([node["pattern"]] if "pattern" in node else [])]
    above = (topic for parent in node.get("parents", ()) for topic in _sources(nodes, parent))
    return tuple(sorted({*own, *above}))
