"""How records are made of what a function of Python values returns; objects that workers can be sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemill.dsl import Record
from tidemill.topology import PythonFunction

Fn = Callable[..., Any]


def _called(fn: Fn, record: Record, with_key: bool) -> Any:
    return fn(record.key, record.value) if with_key else fn(record.value)


@dataclass(frozen=True, slots=True)
class Filtering:
    """The record itself, if the function holds of it."""

    with_key: bool
    negate: bool

    def __call__(self, fn: Fn, record: Record) -> Iterator[Record]:
        if bool(_called(fn, record, self.with_key)) != self.negate:
            yield record


@dataclass(frozen=True, slots=True)
class Values:
    """A new value under the same key."""

    with_key: bool

    def __call__(self, fn: Fn, record: Record) -> Iterator[Record]:
        yield record.with_value(_called(fn, record, self.with_key))


@dataclass(frozen=True, slots=True)
class FlatValues:
    """Any number of values under the same key."""

    with_key: bool

    def __call__(self, fn: Fn, record: Record) -> Iterator[Record]:
        for value in _called(fn, record, self.with_key) or ():
            yield record.with_value(value)


@dataclass(frozen=True, slots=True)
class Keys:
    """A new key for the same value."""

    def __call__(self, fn: Fn, record: Record) -> Iterator[Record]:
        yield record.with_key(fn(record.key, record.value))


@dataclass(frozen=True, slots=True)
class Pairs:
    """A new key and a new value."""

    def __call__(self, fn: Fn, record: Record) -> Iterator[Record]:
        key, value = fn(record.key, record.value)
        yield record.with_key(key).with_value(value)


@dataclass(frozen=True, slots=True)
class FlatPairs:
    """Any number of keys and values."""

    def __call__(self, fn: Fn, record: Record) -> Iterator[Record]:
        for key, value in fn(record.key, record.value) or ():
            yield record.with_key(key).with_value(value)


@dataclass(frozen=True, slots=True)
class Seen:
    """The function is called for what it does; the record passes, or ends there."""

    with_key: bool
    ends: bool

    def __call__(self, fn: Fn, record: Record) -> Iterator[Record]:
        _called(fn, record, self.with_key)
        if not self.ends:
            yield record


@dataclass(frozen=True, slots=True)
class Printed:
    """A line per record, to a file or to the worker's standard output."""

    label: str
    file: str | None

    def __call__(self, fn: Fn, record: Record) -> Iterator[Record]:
        line = f"[{self.label}]: {fn(record.key, record.value)}"
        if self.file is None:
            print(line, flush=True)
        else:
            with Path(self.file).open("a", encoding="utf-8") as out:
                out.write(f"{line}\n")
        yield from ()


def as_text(key: Any, value: Any) -> str:
    """A record as Kafka Streams prints it."""
    return f"{key}, {value}"


class Reducing:
    """The first value, then the function of the aggregate and the value."""

    def __init__(self, fn: PythonFunction) -> None:
        self._fn = fn.fn

    def __call__(self, slot: int, key: Any, value: Any, old: Any) -> Any:  # noqa: ARG002  a fold's arguments
        return value if old is None else self._fn(old, value)


class Folding:
    """The initial value, then the function of key, value and aggregate."""

    def __init__(self, init: Any, fn: PythonFunction) -> None:
        self._init = init
        self._fn = fn.fn

    def __call__(self, slot: int, key: Any, value: Any, old: Any) -> Any:  # noqa: ARG002  a fold's arguments
        if old is None:
            inner = self._init.fn if isinstance(self._init, PythonFunction) else self._init
            old = inner() if callable(inner) else inner
        return self._fn(key, value, old)


class Cogrouping:
    """The initial value, then each input's own function of key, value and aggregate."""

    def __init__(self, init: Any, fns: Sequence[PythonFunction]) -> None:
        self._folds = [Folding(init, fn) for fn in fns]

    def __call__(self, slot: int, key: Any, value: Any, old: Any) -> Any:
        return self._folds[slot](slot, key, value, old)


class Regrouping:
    """What left a group of a table's rows is taken back, then what came is added."""

    def __init__(self, add: Callable[[int, Any, Any, Any], Any], subtract: Callable[..., Any]) -> None:
        self._add = add
        self._subtract = subtract

    def __call__(self, slot: int, key: Any, value: Any, old: Any) -> Any:
        if value["remove"] is not None and old is not None:
            old = self._subtract(key, value["remove"], old)
        return old if value["add"] is None else self._add(slot, key, value["add"], old)


class TakingBack:
    """A reducer's subtractor as a function of key, value and aggregate."""

    def __init__(self, fn: PythonFunction) -> None:
        self._fn = fn.fn

    def __call__(self, key: Any, value: Any, old: Any) -> Any:  # noqa: ARG002  a subtractor's arguments
        return self._fn(old, value)


class FoldedValues:
    """All values of a window, folded from the first to the last."""

    def __init__(self, fold: Callable[[int, Any, Any, Any], Any]) -> None:
        self._fold = fold

    def __call__(self, key: Any, values: Any) -> Any:
        result = None
        for each in values:
            result = self._fold(0, key.key, each["value"], result)
        return result


class JoinedValues:
    """Both sides of a join, joined."""

    def __init__(self, fn: PythonFunction, with_key: bool) -> None:
        self._fn = fn.fn
        self._with_key = with_key

    def __call__(self, key: Any, pair: Any) -> Any:
        sides = pair["left"], pair["right"]
        return self._fn(key, *sides) if self._with_key else self._fn(*sides)
