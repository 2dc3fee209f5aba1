"""Versioned tables: lookups as of a time, and what out-of-order rows do."""

from conformance.cases import case, into
from conformance.scenarios.group_table import row
from oracle.spec import LONG, Aggregate, Filter, GroupBy, JoinKind, Stream, StreamTableJoin, Table, TableJoin


def _as_of(kind: JoinKind) -> StreamTableJoin:
    return StreamTableJoin(Stream("s"), Table("t", history=100), "pair", kind)


_HISTORY = [
    ("t", "k", "v10", 10),
    ("t", "k", "v20", 20),
    ("s", "k", "A", 15),
    ("s", "k", "B", 20),
    ("s", "k", "C", 5),
    ("t", "k", "v12", 12),
    ("s", "k", "D", 13),
    ("t", "k", None, 16),
    ("s", "k", "E", 17),
    ("s", "k", "F", 21),
    ("t", "z", "z", 200),
    ("s", "k", "G", 15),
    ("s", "k", "H", 99),
    ("s", "k", "I", 100),
    ("t", "k", "late", 99),
    ("t", "k", "ok", 100),
    ("s", "k", "J", 150),
]

CASES = [
    case(
        "versioned_join_with_grace_takes_no_time_from_null_values",
        StreamTableJoin(Stream("s"), Table("t", history=1000), "pair", "left", grace=10),
        [("s", "a", None, 212), ("s", "a", "A", 192), ("s", "a", "B", 202)],
    ),
    case(
        "versioned_inner_looks_up_as_of_the_stream_record",
        _as_of("inner"),
        _HISTORY,
        golden="versioned stream-table join hist=100",
        form="pair",
    ),
    case(
        "versioned_left_looks_up_as_of_the_stream_record",
        _as_of("left"),
        _HISTORY,
        golden="versioned stream-table leftJoin hist=100",
        form="pair",
    ),
    case(
        "versioned_join_holds_stream_records_back_for_grace",
        StreamTableJoin(Stream("s"), Table("t", history=1000), "pair", "left", grace=10),
        [
            ("s", "k", "A", 10),
            ("t", "k", "t5", 5),
            ("s", "k", "B", 15),
            ("s", "k", "C", 20),
            ("s", "z", "Z", 25),
            ("t", "k", "t18", 18),
            ("s", "z", "Y", 31),
            ("s", "k", "late", 15),
            ("t", "q", "Q", 500),
            ("s", "z", "X", 100),
        ],
        golden="stream-table join with grace 10 (buffered)",
        form="pair",
    ),
    case(
        "versioned_join_that_holds_back_fails_on_a_null_key",
        StreamTableJoin(Stream("s"), Table("t", history=1000), "pair", "left", grace=10),
        [("s", "k", "A", 10), ("s", None, "B", 11)],
        deviation="a null key is kept and joined with null, as in the join without grace",
    ),
    case(
        "versioned_table_join_ignores_rows_that_are_not_the_latest",
        TableJoin(Table("l", history=100), Table("r", history=100), "pair", "inner"),
        [
            ("l", "k", "A", 10),
            ("r", "k", "a", 5),
            ("l", "k", "OLD", 3),
            ("l", "k", "B", 12),
            ("r", "k", "old", 1),
            ("r", "k", "eq", 5),
        ],
        golden="versioned table-table: ooo dropped",
        form="pair",
    ),
    case(
        "versioned_group_by_ignores_rows_that_are_not_the_latest",
        Aggregate(GroupBy(Table("t", "g string, n long", history=100), "fields(g,n)"), "sum", store="sums"),
        [row("a", "G", 5, 10), row("a", "G", 100, 5), row("a", "G", 7, 12)],
        golden="versioned groupBy: ooo ignored",
    ),
    case(
        "versioned_table_forwards_out_of_order_rows_within_its_history",
        Table("t", LONG, history=100),
        into("t", ("a", 1, 10), ("a", 2, 5), ("a", 3, 200), ("a", 4, 50)),
        golden="versioned table toStream forwards ooo",
    ),
    case(
        "versioned_filter_always_forwards",
        Filter(Table("t", LONG, history=100), "gt(10)"),
        into("t", ("a", 1, 10), ("a", 20, 12), ("a", 2, 11)),
        golden="versioned filter always forwards",
    ),
]
