"""The vocabulary of user functions, each told twice: over Python values and over Spark Columns.

Both forms of a function must agree on every value of its types, null included: that makes the answers of the
two engines comparable. Columns are made when a function is called, so that reading this table needs no Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oracle.spec import LONG, STRING

ResultType = Callable[[str], str]


class _SparkFunctions:
    """`pyspark.sql.functions`, imported at the first use."""

    def __getattr__(self, name: str) -> Any:
        from pyspark.sql import functions

        return getattr(functions, name)


F = _SparkFunctions()


@dataclass(frozen=True)
class Function:
    """A user function; `result` gives its value type from the type of its (first) input value."""

    python: Callable[..., Any]
    column: Callable[..., Any]
    result: ResultType
    with_key: bool = False


@dataclass(frozen=True)
class Fold:
    """An aggregate: an initial value, what a value adds, and how two session aggregates merge."""

    initial: Any
    add: Function
    merge: Function


@dataclass(frozen=True)
class TableFold:
    """An aggregate over a table, which can also take a value away."""

    initial: Any
    add: Function
    subtract: Function


Vocabulary = dict[str, Callable[..., Any]]


def lookup(vocabulary: Vocabulary, call: str) -> Any:
    """The entry that `call` names, such as "gt(10)" or "field(fk)"."""
    match = re.fullmatch(r"(\w+)(?:\((.*)\))?", call)
    if match is None or match[1] not in vocabulary:
        raise KeyError(f"{call!r} is not in the vocabulary {sorted(vocabulary)}")
    arguments = [argument.strip() for argument in match[2].split(",")] if match[2] else []
    return vocabulary[match[1]](*(int(a) if re.fullmatch(r"-?\d+", a) else a for a in arguments))


def field_type(struct: str, name: str) -> str:
    """The type of a field of a struct given as DDL."""
    fields = dict(part.split() for part in struct.split(","))
    return fields[name]


def text(value: Any) -> str:
    return "null" if value is None else str(value)


def column_text(column: Any) -> Any:
    return F.coalesce(column.cast("string"), F.lit("null"))


def _pair(left: Any, right: Any) -> str:
    return f"[{text(left)},{text(right)}]"


def _column_pair(left: Any, right: Any) -> Any:
    return F.concat(F.lit("["), column_text(left), F.lit(","), column_text(right), F.lit("]"))


def _to(result: str) -> ResultType:
    return lambda _: result


def _same(value: str) -> str:
    return value


def _null_safe(function: Callable[..., Any]) -> Callable[..., Any]:
    """Null if any argument is, as Spark's operators do."""
    return lambda *values: None if any(v is None for v in values) else function(*values)


def _predicate(python: Callable[..., bool], column: Callable[..., Any]) -> Function:
    return Function(
        lambda k, v: v is not None and bool(python(k, v)),
        lambda k, v: F.coalesce(column(k, v), F.lit(False)),
        _to("boolean"),
        with_key=True,
    )


PREDICATES: Vocabulary = {
    "gt": lambda n: _predicate(lambda _, v: v > n, lambda _, v: v > n),
    "lt": lambda n: _predicate(lambda _, v: v < n, lambda _, v: v < n),
    "even": lambda: _predicate(lambda _, v: v % 2 == 0, lambda _, v: v % 2 == 0),
    "is": lambda x: _predicate(lambda _, v: v == x, lambda _, v: v == F.lit(x)),
    "key_is": lambda x: Function(
        lambda k, _: k == x,
        lambda k, _: F.coalesce(k == F.lit(x), F.lit(False)),
        _to("boolean"),
        with_key=True,
    ),
    "not_null": lambda: Function(
        lambda _, v: v is not None, lambda _, v: v.isNotNull(), _to("boolean"), with_key=True
    ),
}

MAPPERS: Vocabulary = {
    "times": lambda n: Function(_null_safe(lambda v: v * n), lambda v: v * n, _same),
    "plus": lambda n: Function(_null_safe(lambda v: v + n), lambda v: v + n, _same),
    "text": lambda: Function(text, column_text, _to(STRING)),
    "upper": lambda: Function(_null_safe(str.upper), lambda v: F.upper(v), _same),
    "field": lambda name: Function(
        _null_safe(lambda v: v[name]), lambda v: v[name], lambda struct: field_type(struct, name)
    ),
    "null_if": lambda x: Function(lambda v: None if v == x else v, lambda v: F.when(v != F.lit(x), v), _same),
    "tag_unless": lambda x: Function(
        _null_safe(lambda v: None if v == x else f"m{v}"),
        lambda v: F.when(v != x, F.concat(F.lit("m"), v.cast("string"))),
        _to(STRING),
    ),
    "key_and_value": lambda: Function(
        lambda k, v: f"{text(k)}={text(v)}",
        lambda k, v: F.concat(column_text(k), F.lit("="), column_text(v)),
        _to(STRING),
        with_key=True,
    ),
}


def _selector(python: Callable[..., Any], column: Callable[..., Any]) -> Function:
    return Function(python, column, _to(STRING), with_key=True)


SELECTORS: Vocabulary = {
    "field": lambda name: _selector(
        lambda _, v: None if v is None or v[name] is None else str(v[name]),
        lambda _, v: v[name].cast("string"),
    ),
    "value": lambda: _selector(lambda _, v: None if v is None else str(v), lambda _, v: v.cast("string")),
    "mod": lambda n: _selector(
        lambda _, v: None if v is None else str(v % n),
        lambda _, v: F.pmod(v, F.lit(n)).cast("string"),
    ),
    "initial": lambda: _selector(
        lambda k, _: None if k is None else k[:1], lambda k, _: F.substring(k, 1, 1)
    ),
    "always": lambda x: _selector(lambda _, __: str(x), lambda _, __: F.lit(str(x))),
    "inner_key": lambda: _selector(lambda k, _: k[0], lambda k, _: k["key"]),
    "window_start": lambda: _selector(lambda k, _: str(k[1]), lambda k, _: k["start"].cast("string")),
}

EXPANDERS: Vocabulary = {
    "twice": lambda: Function(
        lambda v: [] if v is None else [v, v],
        lambda v: F.when(v.isNotNull(), F.array(v, v)).otherwise(F.slice(F.array(v), 1, 0)),
        _same,
    ),
    "twice_if_gt": lambda n: Function(
        lambda v: [v, v] if v is not None and v > n else [],
        lambda v: F.when(v > n, F.array(v, v)).otherwise(F.slice(F.array(v), 1, 0)),
        _same,
    ),
    "letters": lambda: Function(
        lambda v: list(v or ""),
        lambda v: F.filter(F.split(F.coalesce(v, F.lit("")), ""), lambda letter: letter != ""),
        _same,
    ),
}

REDUCERS: Vocabulary = {
    "add": lambda: Function(_null_safe(lambda a, b: a + b), lambda a, b: a + b, _same),
    "concat": lambda: Function(_null_safe(lambda a, b: a + b), lambda a, b: F.concat(a, b), _same),
    "pair": lambda: Function(_pair, _column_pair, _same),
    "largest": lambda: Function(
        _null_safe(max), lambda a, b: F.when(a.isNotNull() & b.isNotNull(), F.greatest(a, b)), _same
    ),
    "latest": lambda: Function(lambda _, b: b, lambda _, b: b, _same),
}


def _appending(mark: str) -> Function:
    return Function(
        lambda _, v, agg: f"{agg}{mark}{text(v)}",
        lambda _, v, agg: F.concat(agg, F.lit(mark), column_text(v)),
        _to(STRING),
        with_key=True,
    )


def _unless(value: Any, fold: Fold) -> Fold:
    """A fold that answers null to one value, which deletes the row."""
    return Fold(
        fold.initial,
        Function(
            lambda k, v, agg: None if v == value else fold.add.python(k, v, agg),
            lambda k, v, agg: F.when(F.coalesce(v != F.lit(value), F.lit(True)), fold.add.column(k, v, agg)),
            fold.add.result,
            with_key=True,
        ),
        fold.merge,
    )


def _arithmetic(python: Callable[..., Any], column: Callable[..., Any]) -> Function:
    return Function(
        lambda _, v, agg: _null_safe(python)(v, agg),
        lambda _, v, agg: column(v, agg),
        _to(LONG),
        with_key=True,
    )


def _cat(mark: str = "+") -> Fold:
    merge = Function(
        lambda _, a, b: _null_safe(lambda x, y: x + y)(a, b),
        lambda _, a, b: F.concat(a, b),
        _same,
        with_key=True,
    )
    return Fold("", _appending(mark), merge)


_ADD = _arithmetic(lambda v, agg: agg + v, lambda v, agg: agg + v)
_SUBTRACT = _arithmetic(lambda v, agg: agg - v, lambda v, agg: agg - v)
_SUM = Fold(0, _ADD, _ADD)

FOLDS: Vocabulary = {
    "cat": _cat,
    "cat_unless": lambda x: _unless(x, _cat()),
    "sum": lambda: _SUM,
    "sum_unless": lambda x: _unless(x, _SUM),
}

TABLE_FOLDS: Vocabulary = {
    "signed_cat": lambda: TableFold("", _appending("+"), _appending("-")),
    "sum": lambda: TableFold(0, _ADD, _SUBTRACT),
    "sum_null_at_zero": lambda: TableFold(
        0,
        _ADD,
        _arithmetic(lambda v, agg: None if agg == v else agg - v, lambda v, agg: F.when(agg != v, agg - v)),
    ),
}

JOINERS: Vocabulary = {
    "pair": lambda: Function(_pair, _column_pair, _to(STRING)),
    "pair_with_key": lambda: Function(
        lambda k, left, right: f"{text(k)}:{_pair(left, right)}",
        lambda k, left, right: F.concat(column_text(k), F.lit(":"), _column_pair(left, right)),
        _to(STRING),
        with_key=True,
    ),
    "add": lambda: Function(
        lambda left, right: (left or 0) + (right or 0),
        lambda left, right: F.coalesce(left, F.lit(0)) + F.coalesce(right, F.lit(0)),
        _to(LONG),
    ),
    "field_pair": lambda name: Function(
        lambda left, right: _pair(left and left[name], right),
        lambda left, right: _column_pair(left[name], right),
        _to(STRING),
    ),
}

PAIRINGS: Vocabulary = {
    "fields": lambda key, value: Function(
        lambda _, v: (v[key], v[value]),
        lambda _, v: (v[key], v[value]),
        lambda struct: field_type(struct, value),
        with_key=True,
    ),
    "mod": lambda n: Function(
        lambda _, v: (str(v % n), v),
        lambda _, v: (F.pmod(v, F.lit(n)).cast("string"), v),
        _same,
        with_key=True,
    ),
    "initial": lambda: Function(
        lambda k, v: (k[:1], v), lambda k, v: (F.substring(k, 1, 1), v), _same, with_key=True
    ),
    "inner_key": lambda: Function(lambda k, v: (k[0], v), lambda k, v: (k["key"], v), _same, with_key=True),
}
