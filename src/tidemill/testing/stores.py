"""The stores of a topology under test, as its processors see them, to read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from tidemill.dsl import (
    KeyValueStore,
    SessionStore,
    ValueAndTimestamp,
    VersionedKeyValueStore,
    WindowStore,
)
from tidemill.errors import UsageError
from tidemill.topology import StoreKind, StoreSpec

if TYPE_CHECKING:
    from tidemill.engine.exposed import Exposed
    from tidemill.engine.memory import MemoryRun


class TestStores:
    """Looks into the stores of a run; what it returns is a copy as of now."""

    __test__ = False

    def __init__(self, run: MemoryRun) -> None:
        self._run = run

    def key_value(self, name: str, *, timestamped: bool = False) -> KeyValueStore:
        """A key-value store; timestamped, its values come with their times."""
        return cast("KeyValueStore", self._of_kind(name, StoreKind.KEY_VALUE, timestamped=timestamped))

    def window(self, name: str, *, timestamped: bool = False) -> WindowStore:
        """A window store; timestamped, its values come with their times."""
        return cast("WindowStore", self._of_kind(name, StoreKind.WINDOW, timestamped=timestamped))

    def session(self, name: str) -> SessionStore:
        """A session store."""
        return cast("SessionStore", self._of_kind(name, StoreKind.SESSION))

    def versioned(self, name: str) -> VersionedKeyValueStore:
        """A versioned store."""
        return cast("VersionedKeyValueStore", self._of_kind(name, StoreKind.VERSIONED))

    def all(self) -> dict[str, Any]:
        """Every store there is, by its name."""
        return {name: self._open(name) for name in sorted(self._specs())}

    def _specs(self) -> dict[str, StoreSpec]:
        # A processor's copy of a table's store is not the store.
        tables = {name: exposed.spec for name, exposed in self._run.tables.items()}
        return {**self._run.stores, **tables}

    def _of_kind(self, name: str, kind: StoreKind, *, timestamped: bool = False) -> Any:
        specs = self._specs()
        if name not in specs:
            known = ", ".join(sorted(specs)) or "none"
            raise UsageError(f"there is no store `{name}`", remedy=f"there are: {known}")
        if specs[name].kind is not kind:
            raise UsageError(
                f"`{name}` is a {specs[name].kind} store",
                remedy=f"ask for it as what it is, not as a {kind} store",
            )
        if timestamped and name in self._run.stores and not specs[name].timestamped:
            raise UsageError(
                f"the processors' store `{name}` has no timestamps",
                remedy="declare it with state_store(..., timestamped=True)",
            )
        return self._open(name, timestamped=timestamped)

    def _open(self, name: str, *, timestamped: bool = False) -> Any:
        from tidemill.engine.python.cells import Cells, DictBackend
        from tidemill.engine.python.stores import ReadOnly, open_store

        backend, entries = DictBackend(), self._run.entries(name)
        exposed = self._run.tables.get(name)
        if exposed is None:
            backend.data = {entry["key"] or b"": entry["value"] or b"" for entry in entries}
            spec = self._run.stores[name]
            kept = open_store(spec, Cells(backend))
            as_it_is = timestamped or not spec.timestamped or spec.kind is not StoreKind.KEY_VALUE
            return ReadOnly(kept if as_it_is else _without_times(kept, spec))
        store = open_store(replace(exposed.spec, timestamped=timestamped), Cells(backend))
        for entry in entries:
            _fill(store, exposed, entry, timestamped=timestamped)
        return ReadOnly(store)


def _without_times(kept: Any, spec: StoreSpec) -> Any:
    """A copy of a timestamped store with the values alone."""
    from tidemill.engine.python.cells import Cells, DictBackend
    from tidemill.engine.python.stores import open_store

    store: Any = open_store(replace(spec, timestamped=False), Cells(DictBackend()))
    for key, value in kept.all():
        store.put(key, value.value)
    return store


def _fill(store: Any, exposed: Exposed, entry: dict[str, bytes | None], *, timestamped: bool) -> None:
    """Put a table's row into a store of the same kind."""
    assert exposed.spec.value is not None
    key, value = exposed.key.decode(entry["key"]), exposed.spec.value.decode(entry["value"])
    time = int.from_bytes(entry["time"] or b"", "big", signed=True)
    if timestamped:
        value = ValueAndTimestamp(value, time)
    match exposed.spec.kind:
        case StoreKind.KEY_VALUE:
            store.put(key, value)
        case StoreKind.WINDOW:
            store.put(key.key, value, key.start)
        case StoreKind.SESSION:
            store.put(key, value)
        case StoreKind.VERSIONED:
            store.put(key, value, time)
