"""Stores of the kernel that a test can look into: how their keys and values are written down for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql.types import DataType, StructType

from tidemill import serdes as forms
from tidemill.engine import serdes
from tidemill.engine.lowering import Lowering
from tidemill.engine.steps import Role, Step
from tidemill.errors import TidemillError
from tidemill.serde.base import Serde
from tidemill.topology import StoreKind, StoreSpec
from tidemill.topology.nodes import Suppress

_FOREVER = 2**62


@dataclass(frozen=True, slots=True)
class Exposed:
    """A store as its copy in a test is declared, and the serde of the keys that come."""

    spec: StoreSpec
    key: Serde


def expose(
    low: Lowering, program: Any, steps: Sequence[Step], index: Mapping[str, int]
) -> dict[str, Exposed]:
    """Let barriers ask a program for the rows of its tables."""
    kept, found = set(program.stores()), {}
    for step in steps:
        if step.role is not Role.WHOLE or isinstance(step.node, Suppress):
            continue
        for store in (store for store in step.node.owned_stores if store.name in kept):
            types = low.types[step.name]
            key, value = _key_serde(store, types.key), serdes.default_serde(types.value)
            try:
                evaluators = [_encoder(low, step, key, types.key), _encoder(low, step, value, types.value)]
            except TidemillError:
                continue  # a type that has no bytes cannot be shown, which is no reason not to run it
            program.expose(store.name, index[step.name], *evaluators)
            inner = getattr(key, "inner", key)
            spec = replace(store, key=inner, value=value, retention=store.retention or _FOREVER)
            found[store.name] = Exposed(spec, key)
    return found


def _encoder(low: Lowering, step: Step, serde: Serde, type_: DataType) -> Any:
    return low.columns.of(step.node, lambda value: serdes.encode(serde, value), {"value": type_}).evaluator


def _key_serde(store: StoreSpec, type_: DataType) -> Serde:
    if store.kind is StoreKind.SESSION:
        assert isinstance(type_, StructType)
        return forms.session_windowed(serdes.default_serde(type_["key"].dataType))
    return serdes.default_serde(type_)
