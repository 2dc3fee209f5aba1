"""Random input for scenarios: out of order, late, at equal times, null keys and values, several keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from oracle.functions import field_type
from oracle.shape import sources
from oracle.spec import LONG, STRING, Config, Input, Node, Scenario, Sink

FLUSH_KEY = "zz"
_FAR = 100_000


@dataclass(frozen=True)
class Timeline:
    """What the input of a scenario may look like.

    `flush` ends it with a record far in the future on every topic, which closes all that is open.
    `distinct_times` keeps two records from having one timestamp. Without `empty_values` no text is empty.
    """

    max_size: int = 24
    start: int = 0
    keys: tuple[str, ...] = ("a", "a", "a", "b", "ab")
    null_keys: bool = True
    null_values: bool = True
    flush: bool = False
    distinct_times: bool = False
    empty_values: bool = True


def values(value_type: str) -> st.SearchStrategy[Any]:
    """Values of one type, from few enough that they meet again."""
    if value_type == LONG:
        return st.integers(0, 20)
    if value_type == STRING:
        return st.sampled_from(["A", "B", "C", "xy", ""])
    names = [part.split()[0] for part in value_type.split(",")]
    return st.fixed_dictionaries({name: _field(field_type(value_type, name)) for name in names})


@st.composite
def timelines(draw: st.DrawFn, topics: Mapping[str, str], shape: Timeline | None = None) -> tuple[Input, ...]:
    """Records for topics given with their value types."""
    shape = shape or Timeline()
    keys = st.sampled_from([*shape.keys, None] if shape.null_keys else shape.keys)
    one_of_topics = st.sampled_from(sorted(topics)).flatmap(
        lambda topic: st.tuples(st.just(topic), _value(topics[topic], shape))
    )
    drawn = draw(
        st.lists(st.tuples(one_of_topics, keys, _FORWARD, _BACK), min_size=1, max_size=shape.max_size)
    )
    now = shape.start
    used: set[int] = set()
    records = []
    for (topic, value), key, forward, back in drawn:
        now += forward
        ts = max(now - back, 0)
        while shape.distinct_times and ts in used:
            ts += 1
        used.add(ts)
        now = max(now, ts)
        records.append(Input(topic, key, value, ts))
    if shape.flush:
        records.extend(
            Input(topic, FLUSH_KEY, draw(values(topics[topic])), now + _FAR + index)
            for index, topic in enumerate(sorted(topics))
        )
    return tuple(records)


@st.composite
def scenarios(
    draw: st.DrawFn,
    name: str,
    nodes: st.SearchStrategy[Node],
    shape: Timeline | None = None,
    config: Config | None = None,
) -> Scenario:
    """A topology of a kind with input for it."""
    node = draw(nodes)
    steps = draw(timelines(sources(node), shape))
    return Scenario(name, (Sink("out", node),), steps, config or Config())


# Time mostly creeps, so that windows fill up, and now and then leaps, so that they close.
_FORWARD = st.integers(0, 6) | st.sampled_from([10, 11, 25, 60])
_BACK = st.just(0) | st.integers(0, 12) | st.sampled_from([20, 40])


def _value(value_type: str, shape: Timeline) -> st.SearchStrategy[Any]:
    drawn = values(value_type).filter(lambda value: shape.empty_values or value != "")
    return _seldom_null(drawn) if shape.null_values else drawn


def _field(value_type: str) -> st.SearchStrategy[Any]:
    return _seldom_null(st.integers(0, 9) if value_type == LONG else st.sampled_from(["a", "a", "b", "c"]))


def _seldom_null(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 5).flatmap(lambda dice: st.none() if dice == 5 else strategy)
