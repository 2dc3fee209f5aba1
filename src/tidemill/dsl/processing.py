"""How a verb reads the user's processor: its name and the stores it brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tidemill.place import here
from tidemill.topology import StoreSpec, TopologyError
from tidemill.topology.functions import function_name
from tidemill.topology.names import words


def processor_name(verb: str, supplier: object) -> str:
    """The word a processor's step is named with: its class, or the verb where it has no name."""
    if isinstance(supplier, str):
        return words(supplier.rpartition(".")[2]).lower() or verb
    if not callable(supplier):
        given = type(supplier).__name__
        raise TopologyError(
            f"{verb} takes a class or a function that makes a processor, not an object of {given}",
            place=here(),
            remedy="hand over the class itself, not an object of it: every task needs its own",
        )
    name = function_name(supplier)
    return verb if name == "lambda" else words(name).lower()


def connected_stores(supplier: Callable[..., Any] | str) -> Iterable[StoreSpec]:
    """The stores a processor class declares in its `stores` attribute."""
    declared = getattr(supplier, "stores", ())
    if not isinstance(declared, list | tuple) or not all(isinstance(s, StoreSpec) for s in declared):
        raise TopologyError(
            f"the stores of {function_name(supplier) if callable(supplier) else supplier} are {declared!r}",
            place=here(),
            remedy="write `stores = (state_store(...),)` in the class",
        )
    return declared
