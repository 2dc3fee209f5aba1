"""Sliding windows: which exist, in what order they are updated, and when they close."""

from conformance.cases import LONG_RETENTION, RETENTION_EDGE, case, into
from oracle.spec import LONG, STRING, Aggregate, Count, GroupByKey, Reduce, Sliding, Stream

_LONGS = GroupByKey(Stream("in", LONG))
_TEXTS = GroupByKey(Stream("in", STRING))
_PATIENT = Sliding(10, grace=100)
_LATE = into(
    "in",
    ("a", "A", 100),
    ("b", "B", 115),
    ("a", "C", 100),
    ("b", "D", 116),
    ("a", "E", 101),
    ("a", "F", 105),
)

CASES = [
    case(
        "sliding_skips_null_values",
        Aggregate(_LONGS, "cat", Sliding(10)),
        into("in", ("a", 1, 11), ("a", None, 12), (None, 3, 13)),
        golden="sliding aggregate: null value",
        form="cat",
    ),
    case(
        "sliding_in_order",
        Aggregate(_TEXTS, "cat", _PATIENT),
        into("in", ("a", "A", 100), ("a", "B", 105), ("a", "C", 110), ("a", "D", 111), ("a", "E", 130)),
        golden="sliding(10) in order",
        form="cat",
    ),
    case(
        "sliding_out_of_order",
        Aggregate(_TEXTS, "cat", _PATIENT),
        into("in", ("a", "A", 100), ("a", "C", 120), ("a", "B", 112), ("a", "X", 95), ("a", "Y", 112)),
        golden="sliding(10) out of order",
        form="cat",
    ),
    case(
        "sliding_early_records_share_the_window_from_zero",
        Aggregate(_TEXTS, "cat", _PATIENT),
        into("in", ("a", "A", 0), ("a", "B", 4), ("a", "C", 2), ("a", "D", 10), ("a", "E", 13)),
        golden="sliding(10) early records < diff",
        form="cat",
    ),
    case(
        "sliding_late_window_is_dropped_after_grace",
        Aggregate(_TEXTS, "cat", Sliding(10, grace=5)),
        _LATE,
        golden="sliding(10) late: window end < streamTime-grace",
        form="cat",
        config=LONG_RETENTION,
    ),
    case(
        "sliding_forgets_windows_at_the_edge_of_its_retention",
        Aggregate(_TEXTS, "cat", Sliding(10, grace=5)),
        _LATE,
        deviation=RETENTION_EDGE,
    ),
    case(
        "sliding_bounds_are_inclusive",
        Aggregate(_TEXTS, "cat", _PATIENT),
        into("in", ("a", "A", 100), ("a", "B", 110)),
        golden="sliding boundary inclusive both",
        form="cat",
    ),
    case(
        "sliding_count_out_of_order",
        Count(_LONGS, Sliding(10, grace=50)),
        into("in", ("a", 1, 20), ("a", 2, 25), ("a", 3, 40), ("a", 4, 31), ("a", 5, 3)),
    ),
    case(
        "sliding_reduce_copies_into_right_windows",
        Reduce(_TEXTS, "pair", Sliding(10, grace=50)),
        into("in", ("a", "A", 20), ("a", "B", 25), ("a", "C", 40), ("a", "D", 31), ("b", "E", 33)),
    ),
]
