"""The way from a Column function to plain Python, where the user asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidemill.serde.schema import ddl_of
from tidemill.topology import PythonFunction


def python_fn(fn: Callable[..., Any], *, returns: Any) -> PythonFunction:
    """A function of Python values, for any place that takes a function of Columns; `returns` is its type.

    It runs in Python, record by record: slower than a function of Columns, but free in what it does.

    >>> python_fn(lambda key, value, total: total + value, returns=int).returns
    'bigint'
    """
    return PythonFunction(fn, ddl_of(returns))
