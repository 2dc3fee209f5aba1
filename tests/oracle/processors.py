"""Processors of the vocabulary, told once: every engine hands them its own context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from oracle.functions import Vocabulary
from oracle.spec import LONG, STRING

Clock = Literal["stream", "wall"]


class Context(Protocol):
    """What a processor can do: keep values by key, and forward records."""

    def get(self, key: str) -> Any: ...

    def put(self, key: str, value: Any) -> None: ...

    def items(self) -> list[tuple[str, Any]]: ...

    def forward(self, key: str | None, value: Any, ts: int) -> None: ...


class Processor:
    """Handles records one by one; `state` is the type of what it keeps, `result` of what it forwards."""

    state = LONG
    result = LONG
    clock: Clock | None = None
    interval = 0

    def process(self, context: Context, key: str | None, value: Any, ts: int) -> None:
        """A record came."""

    def punctuate(self, context: Context, ts: int) -> None:
        """The clock, if there is one, passed another interval."""


class RunningCount(Processor):
    """How many records of the key there were, null values included."""

    def process(self, context: Context, key: str | None, value: Any, ts: int) -> None:
        if key is not None:
            count = (context.get(key) or 0) + 1
            context.put(key, count)
            context.forward(key, count, ts)


class Changes(Processor):
    """Only records whose value differs from the last one of the key; a null value forgets the key."""

    state = STRING
    result = STRING

    def process(self, context: Context, key: str | None, value: Any, ts: int) -> None:
        if key is not None and context.get(key) != value:
            context.put(key, value)
            context.forward(key, value, ts)


@dataclass
class Sums(Processor):
    """Sums per key, forwarded all together whenever the clock passes another interval."""

    clock: Clock | None
    interval: int

    def process(self, context: Context, key: str | None, value: Any, ts: int) -> None:
        if key is not None and value is not None:
            context.put(key, (context.get(key) or 0) + value)

    def punctuate(self, context: Context, ts: int) -> None:
        for key, total in context.items():
            context.forward(key, total, ts)


PROCESSORS: Vocabulary = {
    "running_count": RunningCount,
    "changes": Changes,
    "sums_by_stream_time": lambda interval: Sums("stream", interval),
    "sums_by_wall_clock": lambda interval: Sums("wall", interval),
}
