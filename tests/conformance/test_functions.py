"""The two tellings of every user function agree: over Python values and over Spark Columns."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from oracle import functions as fn
from oracle.functions import Function, Vocabulary
from oracle.spec import LONG, STRING

_ROW = "fk string, x long"
_WINDOWED = "key string, start long, end long"
_SAMPLES: dict[str, list[Any]] = {
    LONG: [0, 3, 10, 11],
    STRING: ["", "A", "a", "xy"],
    _ROW: [{"fk": "a", "x": 1}, {"fk": None, "x": None}],
    _WINDOWED: [{"key": "a", "start": 5, "end": 15}],
}
_NULLABLE = "?"

_KEYED_LONG = (f"{STRING}?", f"{LONG}?")
_KEYED_TEXT = (f"{STRING}?", f"{STRING}?")

# The types a call takes; a question mark also tries null, where the library may call with it.
_CALLS: list[tuple[str, tuple[str, ...], list[str]]] = [
    ("PREDICATES", _KEYED_LONG, ["gt(10)", "lt(5)", "even", "is(3)", "key_is(a)", "not_null"]),
    ("PREDICATES", _KEYED_TEXT, ["is(A)", "key_is(a)", "not_null"]),
    ("MAPPERS", (f"{LONG}?",), ["times(2)", "plus(1)", "text", "null_if(3)", "tag_unless(3)"]),
    ("MAPPERS", (f"{STRING}?",), ["upper", "text", "null_if(A)"]),
    ("MAPPERS", (f"{_ROW}?",), ["field(fk)", "field(x)"]),
    ("MAPPERS", _KEYED_LONG, ["key_and_value"]),
    ("SELECTORS", _KEYED_LONG, ["value", "mod(3)", "initial", "always(x)"]),
    ("SELECTORS", (f"{STRING}?", f"{_ROW}?"), ["field(fk)", "field(x)"]),
    ("SELECTORS", (_WINDOWED, f"{LONG}?"), ["inner_key", "window_start"]),
    ("EXPANDERS", (f"{LONG}?",), ["twice", "twice_if_gt(10)"]),
    ("EXPANDERS", (f"{STRING}?",), ["letters", "twice"]),
    ("REDUCERS", (f"{LONG}?", f"{LONG}?"), ["add", "largest", "latest"]),
    ("REDUCERS", _KEYED_TEXT, ["concat", "pair", "latest"]),
    ("JOINERS", _KEYED_TEXT, ["pair"]),
    ("JOINERS", (f"{LONG}?", f"{LONG}?"), ["pair", "add"]),
    ("JOINERS", (f"{STRING}?", f"{STRING}?", f"{STRING}?"), ["pair_with_key"]),
    ("JOINERS", (f"{_ROW}?", f"{STRING}?"), ["field_pair(fk)"]),
    ("PAIRINGS", (STRING, _ROW), ["fields(fk,x)"]),
    ("PAIRINGS", (STRING, LONG), ["mod(3)", "initial"]),
    ("PAIRINGS", (_WINDOWED, LONG), ["inner_key"]),
    ("FOLDS", (STRING, f"{LONG}?", LONG), ["sum", "sum_unless(3)"]),
    ("FOLDS", (STRING, f"{LONG}?", STRING), ["cat", "cat(-)"]),
    ("FOLDS", (STRING, f"{STRING}?", STRING), ["cat", "cat_unless(A)"]),
    ("TABLE_FOLDS", (STRING, LONG, LONG), ["sum", "sum_null_at_zero"]),
    ("TABLE_FOLDS", (STRING, LONG, STRING), ["signed_cat"]),
]


def _functions(vocabulary: str, call: str) -> list[Function]:
    found = fn.lookup(getattr(fn, vocabulary), call)
    match found:
        case fn.Fold(_, add, _):
            return [add]
        case fn.TableFold(_, add, subtract):
            return [add, subtract]
        case _:
            return [found]


def _plain(value: Any) -> Any:
    """Spark's rows and arrays as Python's tuples and lists."""
    if hasattr(value, "asDict"):
        return tuple(value)
    return value


@pytest.mark.parametrize(
    ("vocabulary", "types", "calls"), _CALLS, ids=[f"{name}-{','.join(calls)}" for name, _, calls in _CALLS]
)
def test_python_and_column_agree(vocabulary: str, types: tuple[str, ...], calls: list[str]) -> None:
    from pyspark.sql import functions as F

    from tidemill.engine.session import spark_session

    spark = spark_session("local[8]")
    plain = [name.removesuffix(_NULLABLE) for name in types]
    samples = [
        [*_SAMPLES[name], *([None] if nullable.endswith(_NULLABLE) else [])]
        for name, nullable in zip(plain, types, strict=True)
    ]
    rows = list(product(*samples))
    schema = ", ".join(
        f"c{i}: {'bigint' if name == LONG else name if name == STRING else f'struct<{_struct(name)}>'}"
        for i, name in enumerate(plain)
    )
    told = [(call, function) for call in calls for function in _functions(vocabulary, call)]
    arguments = [F.col(f"c{i}") for i in range(len(plain))]
    columns = [_as_column(function.column(*arguments)).alias(f"r{i}") for i, (_, function) in enumerate(told)]
    answers = spark.createDataFrame(rows, schema).select(*columns).collect()
    for row, answer in zip(rows, answers, strict=True):
        # A windowed key is a struct to Spark and a tuple to us.
        values = [tuple(v.values()) if n == _WINDOWED and v else v for n, v in zip(plain, row, strict=True)]
        for (call, function), said in zip(told, answer, strict=True):
            assert _plain(said) == function.python(*values), f"{call} of {row}"


def test_session_merges_agree_with_the_folds() -> None:
    assert fn.lookup(fn.FOLDS, "cat").merge.python("k", "+A", "+B") == "+A+B"
    assert fn.lookup(fn.FOLDS, "sum").merge.python("k", 2, 3) == 5


@pytest.mark.parametrize(
    "name", [name for name, value in vars(fn).items() if name.isupper() and isinstance(value, dict)]
)
def test_every_function_is_tried(name: str) -> None:
    vocabulary: Vocabulary = getattr(fn, name)
    tried = {call.partition("(")[0] for tried, _, calls in _CALLS if tried == name for call in calls}
    assert tried == set(vocabulary)


def _struct(ddl: str) -> str:
    fields = (part.split() for part in ddl.split(","))
    return ", ".join(f"{name}: {'bigint' if kind == LONG else kind}" for name, kind in fields)


def _as_column(result: Any) -> Any:
    from pyspark.sql import functions as F

    return F.struct(*result) if isinstance(result, tuple) else result
