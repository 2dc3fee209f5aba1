"""Foreign-key joins of tables."""

from typing import Any

from conformance.cases import case
from oracle.spec import ForeignKeyJoin, JoinKind, Table


def _join(kind: JoinKind, store: str | None = None) -> ForeignKeyJoin:
    return ForeignKeyJoin(
        Table("l", "fk string, x long"), Table("r"), "field(fk)", "field_pair(fk)", kind, store
    )


def _left(key: str | None, fk: str | None, ts: int, x: int = 0) -> tuple[Any, ...]:
    return ("l", key, {"fk": fk, "x": x}, ts)


_STEPS = [
    _left("k", "1", 1),
    ("r", "1", "foo", 2),
    _left("k", "2", 3),
    _left("k", "3", 4),
    ("r", "3", "bar", 5),
    ("l", "k", None, 6),
    _left("k", "1", 7),
    _left("q", "10", 8),
    _left("r", "10", 9),
    ("r", "10", "baz", 10),
    ("r", "10", None, 11),
    _left("q", None, 12),
    _left("q", "10", 13, 1),
    _left("q", "10", 13, 1),
    _left("q", "10", 14, 2),
    ("r", "77", None, 15),
    ("l", "nope", None, 16),
    _left("z", "10", 3),
    ("r", "10", "late", 2),
    _left(None, "10", 20),
]
_MOVING = [
    ("r", "1", "one", 1),
    ("r", "2", "two", 9),
    _left("a", "1", 2),
    _left("b", "1", 3),
    _left("a", "2", 4),
    _left("a", None, 5),
    _left("a", "2", 6),
    ("r", "2", None, 7),
    ("r", "1", "uno", 4),
    ("l", "b", None, 8),
]

CASES = [
    case("foreign_key_inner", _join("inner"), _STEPS, golden="FK join", form="pair"),
    case("foreign_key_left", _join("left"), _STEPS, golden="FK leftJoin", form="pair"),
    case("foreign_key_inner_row_moves_between_keys", _join("inner"), _MOVING),
    case("foreign_key_left_row_moves_between_keys", _join("left"), _MOVING),
    case(
        "foreign_key_of_versioned_tables_ignores_rows_that_are_not_the_latest",
        ForeignKeyJoin(
            Table("l", "fk string, x long", history=100),
            Table("r", history=100),
            "field(fk)",
            "field_pair(fk)",
            "inner",
        ),
        [
            ("r", "1", "one", 5),
            _left("a", "1", 10),
            ("r", "1", "older", 4),
            _left("a", "2", 9),
            ("r", "1", "same", 5),
            _left("a", "2", 11),
            ("l", "a", None, 10),
            ("l", "a", None, 12),
        ],
    ),
    case(
        "foreign_key_inner_takes_an_empty_value_for_a_value",
        _join("inner"),
        [_left("k", "1", 1), ("r", "1", "", 2), ("r", "1", "foo", 3)],
        deviation="an empty value is a value; the library takes it for none on its way back",
    ),
    case("foreign_key_left_stored", _join("left", "joined"), _MOVING),
]
