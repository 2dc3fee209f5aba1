"""The stores of a topology under test, as its processors see them, to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from tidemill.dsl import KeyValueStore, SessionStore, VersionedKeyValueStore, WindowStore
from tidemill.errors import UsageError
from tidemill.topology import StoreKind, StoreSpec

if TYPE_CHECKING:
    from tidemill.engine.memory import MemoryRun


class TestStores:
    """Looks into the stores of a run; what it returns is a copy as of now."""

    __test__ = False

    def __init__(self, run: MemoryRun, declared: Mapping[str, StoreSpec]) -> None:
        self._run = run
        self._declared = declared

    def key_value(self, name: str) -> KeyValueStore:
        """A key-value store."""
        return cast("KeyValueStore", self._of_kind(name, StoreKind.KEY_VALUE))

    def window(self, name: str) -> WindowStore:
        """A window store."""
        return cast("WindowStore", self._of_kind(name, StoreKind.WINDOW))

    def session(self, name: str) -> SessionStore:
        """A session store."""
        return cast("SessionStore", self._of_kind(name, StoreKind.SESSION))

    def versioned(self, name: str) -> VersionedKeyValueStore:
        """A versioned store."""
        return cast("VersionedKeyValueStore", self._of_kind(name, StoreKind.VERSIONED))

    def all(self) -> dict[str, Any]:
        """Every store that can be looked into, by its name."""
        return {name: self._open(spec) for name, spec in self._run.stores.items()}

    def _of_kind(self, name: str, kind: StoreKind) -> Any:
        spec = self._run.stores.get(name)
        if spec is None:
            raise self._unknown(name)
        if spec.kind is not kind:
            raise UsageError(
                f"`{name}` is a {spec.kind} store", remedy=f"ask for it as what it is, not as a {kind} store"
            )
        return self._open(spec)

    def _open(self, spec: StoreSpec) -> Any:
        from tidemill.engine.python.cells import Cells, DictBackend
        from tidemill.engine.python.stores import ReadOnly, open_store

        backend = DictBackend()
        backend.data = self._run.entries(spec.name)
        return ReadOnly(open_store(spec, Cells(backend)))

    def _unknown(self, name: str) -> UsageError:
        if name in self._declared:
            return UsageError(
                f"the store `{name}` belongs to an operator, not to a processor",
                remedy="read the table's changes from a topic: to_stream().to(...)",
            )
        known = ", ".join(sorted(self._run.stores)) or "none"
        return UsageError(f"there is no store `{name}`", remedy=f"there are: {known}")
