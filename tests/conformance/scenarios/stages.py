"""Topologies of two and three stateful stages."""

from conformance.cases import case, into
from oracle.spec import (
    LONG,
    Aggregate,
    Count,
    GroupBy,
    GroupByKey,
    Hopping,
    MapValues,
    Reduce,
    SelectKey,
    Stream,
    StreamJoin,
    StreamTableJoin,
    Suppress,
    Table,
    TableJoin,
    ToStream,
    ToTable,
    Tumbling,
)

_NEW_ROWS = "a row that is new has no old value; the library takes back what its initializer gave"
_LONGS = Stream("in", LONG)
_STEPS = into(
    "in",
    ("a", 1, 1),
    ("b", 2, 4),
    ("a", 3, 8),
    ("c", 4, 11),
    ("a", None, 12),
    ("b", 5, 9),
    ("b", 6, 25),
    ("a", 7, 40),
)

_COUNTS = Count(GroupByKey(_LONGS))
_WINDOW_SUMS = Aggregate(GroupByKey(_LONGS), "sum", Tumbling(10, grace=5))

CASES = [
    case(
        "stages_count_of_counts",
        Count(GroupBy(_COUNTS, "mod(3)")),
        _STEPS,
        deviation=_NEW_ROWS,
    ),
    case(
        "stages_windowed_sums_summed_per_key",
        Aggregate(GroupBy(_WINDOW_SUMS, "inner_key"), "sum"),
        _STEPS,
        deviation=_NEW_ROWS,
    ),
    case(
        "stages_final_sums_into_larger_windows",
        Aggregate(
            GroupByKey(SelectKey(ToStream(Suppress(_WINDOW_SUMS)), "inner_key")), "cat", Hopping(40, 20)
        ),
        _STEPS,
    ),
    case(
        "stages_stream_enriched_by_its_own_count",
        StreamTableJoin(_LONGS, _COUNTS, "add", "left"),
        _STEPS,
    ),
    case(
        "stages_join_then_count",
        Count(GroupBy(StreamJoin(Stream("l"), Stream("r"), "pair", "inner", 10, 10), "value")),
        [
            ("l", "k", "A", 1),
            ("r", "k", "a", 2),
            ("r", "k", "a", 3),
            ("l", "k", "B", 4),
            ("l", "j", "A", 5),
            ("r", "j", "a", 30),
        ],
    ),
    case(
        "stages_join_reduce_then_table_join",
        TableJoin(
            Reduce(
                GroupByKey(StreamTableJoin(Stream("s", LONG), Table("t", LONG), "add", "inner")), "largest"
            ),
            MapValues(ToTable(Stream("u")), "upper"),
            "pair",
            "left",
        ),
        [
            ("t", "k", 10, 1),
            ("s", "k", 1, 2),
            ("u", "k", "x", 9),
            ("s", "k", 5, 3),
            ("s", "k", 2, 20),
            ("u", "k", None, 4),
            ("t", "k", None, 5),
            ("s", "k", 9, 6),
        ],
    ),
]
