"""A case: a scenario with its place in the golden data, and what Tidemill does differently on purpose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from oracle.spec import Advance, Config, Input, Node, Scenario, Sink

LONG_RETENTION = Config(retention=86_400_000)
"""Stores keep windows for a day, so that the rules of closing alone decide what is late."""

RETENTION_EDGE = "a window counts until it is closed; the stores of the library forget it a moment before"

Form = Literal["plain", "cat", "joined", "pair"]


@dataclass(frozen=True)
class Case:
    """`golden` names the entry in the golden files; `form` says how its untyped values read in ours."""

    scenario: Scenario
    golden: str | None = None
    form: Form = "plain"
    deviation: str | None = None
    """The product decision to answer differently from the library, in one sentence."""

    @property
    def name(self) -> str:
        return self.scenario.name


def case(
    name: str,
    node: Node,
    steps: Iterable[tuple[Any, ...]],
    *,
    golden: str | None = None,
    form: Form = "plain",
    deviation: str | None = None,
    config: Config | None = None,
    headers: bool = False,
) -> Case:
    """A case that writes one node to "out"; a step is (topic, key, value, ts[, headers]) or (wall clock,)."""
    actions = tuple(Advance(*step) if len(step) == 1 else Input(*step) for step in steps)
    scenario = Scenario(name, (Sink("out", node),), actions, config or Config(), headers)
    return Case(scenario, golden, form, deviation)


def into(topic: str, *records: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Steps that all go into one topic."""
    return [(topic, *record) for record in records]
