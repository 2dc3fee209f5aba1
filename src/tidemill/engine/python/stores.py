"""The stores of a task by their names, whatever their kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tidemill.engine.python.cells import Backend, Cells
from tidemill.engine.python.key_value import CellsKeyValueStore
from tidemill.engine.python.versioned import CellsVersionedStore
from tidemill.engine.python.window import CellsSessionStore, CellsWindowStore
from tidemill.errors import UsageError
from tidemill.topology import StoreKind, StoreSpec

Store = CellsKeyValueStore | CellsWindowStore | CellsSessionStore | CellsVersionedStore
Open = Callable[[str], Backend]

_KINDS: Mapping[StoreKind, Callable[[StoreSpec, Cells], Store]] = {
    StoreKind.KEY_VALUE: CellsKeyValueStore,
    StoreKind.WINDOW: CellsWindowStore,
    StoreKind.SESSION: CellsSessionStore,
    StoreKind.VERSIONED: CellsVersionedStore,
}


def open_store(spec: StoreSpec, cells: Cells) -> Store:
    """A store of the declared kind over these cells."""
    return _KINDS[spec.kind](spec, cells)


class Stores:
    """All stores of one task. A new batch brings new handles on the same state: see `attach`."""

    def __init__(self, specs: Mapping[str, StoreSpec], backends: Open) -> None:
        self._cells = {name: Cells(backends(name)) for name in specs}
        self._stores = {name: open_store(spec, self._cells[name]) for name, spec in specs.items()}

    def attach(self, backends: Open) -> None:
        """Go on with another batch's handles."""
        for name, cells in self._cells.items():
            cells.attach(backends(name))

    def __getitem__(self, name: str) -> Store:
        return self._stores[name]

    def __contains__(self, name: str) -> bool:
        return name in self._stores

    def cells(self, name: str) -> Cells:
        """The bytes of a store, for a step that reads them in a way of its own."""
        return self._cells[name]

    def save(self) -> None:
        """Write down what changed in all stores."""
        for store in self._stores.values():
            store.save()


class ReadOnly:
    """A store that belongs to another step: everything but changing it goes through."""

    _CHANGES = frozenset({"put", "put_all", "put_if_absent", "delete", "remove"})

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name in self._CHANGES:
            raise UsageError(
                f"the store `{self._store.name}` belongs to another step, which alone changes it",
                remedy="only read it here, or keep a store of your own",
            )
        return getattr(self._store, name)
