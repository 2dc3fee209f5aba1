"""The user's functions: how many arguments they take, and which of them are plain Python."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from tidemill.place import here
from tidemill.topology.errors import TopologyError
from tidemill.topology.nodes.base import Function

VALUE = ("value",)
KEY_VALUE = ("key", "value")
LEFT_RIGHT = ("left", "right")
KEY_LEFT_RIGHT = ("key", "left", "right")


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function that wants Python values instead of Columns; `returns` is the DDL of its result."""

    fn: Function = field(compare=False)
    returns: str

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.fn)

    def __call__(self, *args: Any) -> Any:
        return self.fn(*args)


def arguments(verb: str, fn: Function, *forms: Sequence[str]) -> int:
    """How many arguments to call `fn` with: the first of the forms it can take.

    >>> arguments("filter", lambda value: value > 3, ("value",), ("key", "value"))
    1
    >>> arguments("map", lambda value: value, ("key", "value"))
    Traceback (most recent call last):
    tidemill.topology.errors.TopologyError: map takes a function of (key, value); yours takes 1 ...
    """
    wanted = " or ".join(f"({', '.join(form)})" for form in forms)
    if not callable(fn):
        raise TopologyError(
            f"{verb} takes a function of {wanted}; yours is {_a(type(fn).__name__)}",
            place=here(),
            remedy=f"write `lambda {', '.join(forms[0])}: ...`",
        )
    fewest, most, extra = _range(fn)
    for form in forms:
        if fewest <= len(form) <= most and not extra:
            return len(form)
    count = f"the keyword argument {extra}" if extra else _count(fewest, most)
    raise TopologyError(
        f"{verb} takes a function of {wanted}; yours takes {count}",
        place=here(),
        remedy=f"write `lambda {', '.join(forms[0])}: ...`",
    )


def takes_key(verb: str, fn: Function) -> bool:
    """Whether a function of (value) or (key, value) wants the key.

    >>> takes_key("map_values", lambda key, value: value), takes_key("map_values", lambda value: value)
    (True, False)
    """
    return arguments(verb, fn, VALUE, KEY_VALUE) == 2


def joiner_takes_key(verb: str, joiner: Function) -> bool:
    """Whether a joiner of (left, right) or (key, left, right) wants the key.

    >>> joiner_takes_key("join", lambda left, right: left)
    False
    """
    return arguments(verb, joiner, LEFT_RIGHT, KEY_LEFT_RIGHT) == 3


def check_partitioner(verb: str, partitioner: Function | None) -> None:
    """Refuse a partitioner that is no function of (key, value, partitions).

    >>> check_partitioner("to", lambda key, value, partitions: key % partitions)
    """
    if partitioner is not None:
        arguments(f"the partitioner of {verb}", partitioner, ("key", "value", "partitions"))


def holds_python(value: Any) -> bool:
    """Whether a function of Python values is in a node, or in a part of one.

    >>> holds_python((len, PythonFunction(len, "int"))), holds_python(len)
    (True, False)
    """
    if isinstance(value, PythonFunction):
        return True
    if isinstance(value, tuple):
        return any(holds_python(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return any(holds_python(getattr(value, each.name)) for each in fields(value))
    return False


def function_name(fn: Function) -> str:
    """What the user calls the function; `lambda` for those without a name.

    >>> function_name(len), function_name(lambda value: value)
    ('len', 'lambda')
    """
    inner = fn.fn if isinstance(fn, PythonFunction) else fn
    name = getattr(inner, "__name__", None) or type(inner).__name__
    return "lambda" if name == "<lambda>" else str(name)


def function_arguments(fn: Function) -> list[str]:
    """The names of a function's arguments, or none where it does not tell them."""
    try:
        return list(inspect.signature(fn).parameters)
    except (TypeError, ValueError):
        return []


def _range(fn: Function) -> tuple[int, float, str | None]:
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):  # some built-in functions do not tell their signature
        return 0, math.inf, None
    plain = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    fewest = sum(p.default is p.empty for p in plain)
    most = math.inf if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(plain)
    extra = next((p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty), None)
    return fewest, most, extra


def _count(fewest: int, most: float) -> str:
    if most == math.inf:
        return f"{fewest} or more"
    return str(fewest) if fewest == most else f"{fewest} to {most:.0f}"


def _a(noun: str) -> str:
    return f"an {noun}" if noun[:1].lower() in "aeiou" else f"a {noun}"
