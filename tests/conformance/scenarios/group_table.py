"""Aggregations of tables: what is added, what is taken away, in which order."""

from typing import Any

from conformance.cases import case
from oracle.spec import LONG, Aggregate, Config, Count, GroupBy, Reduce, Table

_GROUPED = GroupBy(Table("t", "g string, n long"), "fields(g,n)")


def row(key: str | None, group: str | None, n: int | None, ts: int) -> tuple[Any, ...]:
    return ("t", key, {"g": group, "n": n}, ts)


_REGIONS = [
    row("alice", "E", 5, 1),
    row("bob", "A", 3, 2),
    row("charlie", "A", 7, 3),
    row("alice", "A", 5, 4),
    ("t", "charlie", None, 5),
    row(None, "E", 1, 6),
    row("bob", "A", 4, 3),
    row("bob", None, 4, 8),
    row("bob", "Z", None, 9),
]

CASES = [
    case(
        "group_table_takes_away_then_adds",
        Aggregate(_GROUPED, "signed_cat", store="groups"),
        _REGIONS,
        golden="KTable.groupBy aggregate nocache",
        form="joined",
    ),
    case(
        "group_table_takes_away_then_adds_with_cache",
        Aggregate(_GROUPED, "signed_cat", store="groups"),
        _REGIONS,
        golden="KTable.groupBy aggregate cached(TTD)",
        form="joined",
        config=Config(cache=True),
    ),
    case(
        "group_table_null_from_the_subtractor_deletes",
        Aggregate(_GROUPED, "sum_null_at_zero", store="groups"),
        [row("a", "G", 5, 10), row("a", "G", 7, 4), ("t", "a", None, 6), row("a", "G", 1, 1)],
        golden="KGroupedTable subtractor returns null",
    ),
    case(
        "group_table_reduce",
        Reduce(_GROUPED, "sum", store="groups"),
        [
            row("a", "G", 5, 10),
            row("b", "G", 7, 4),
            ("t", "a", None, 6),
            ("t", "b", None, 1),
            row("c", "G", 1, 1),
        ],
        golden="KGroupedTable reduce",
    ),
    case(
        "group_table_count_ends_at_zero",
        Count(_GROUPED),
        [row("a", "G", 5, 10), row("a", "H", 5, 11), ("t", "a", None, 12)],
        golden="KGroupedTable count goes to 0 not null",
    ),
    case(
        "group_table_by_a_computed_key",
        Aggregate(GroupBy(Table("t", LONG), "mod(2)"), "sum"),
        [("t", "a", 1, 1), ("t", "b", 3, 2), ("t", "a", 2, 3), ("t", "b", None, 1), ("t", "c", None, 4)],
    ),
]
