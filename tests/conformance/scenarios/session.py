"""Session windows: merging, tombstones of merged sessions, lateness."""

from conformance.cases import LONG_RETENTION, RETENTION_EDGE, case, into
from oracle.spec import (
    LONG,
    STRING,
    Aggregate,
    Config,
    Count,
    GroupBy,
    GroupByKey,
    Reduce,
    Session,
    Stream,
)

_LONGS = GroupByKey(Stream("in", LONG))
_TEXTS = GroupByKey(Stream("in", STRING))
_CAT = Aggregate(_LONGS, "cat", Session(10))
_CACHE = Config(cache=True)

_REGROUPED = Aggregate(
    GroupBy(Aggregate(_LONGS, "sum", Session(10), store="sessions"), "inner_key"), "sum", store="totals"
)
_SAME_TIME = into("in", ("a", 1, 5), ("a", 2, 5), ("a", 3, 7))
_GROWING = into("in", ("a", 1, 0), ("a", 2, 5), ("a", 3, 12))
_LATE = into(
    "in", ("a", 1, 0), ("b", 1, 15), ("a", 2, 0), ("b", 1, 16), ("a", 3, 0), ("a", 4, 1), ("a", 5, 5)
)

CASES = [
    case(
        "session_aggregate_takes_null_values_but_not_null_keys",
        _CAT,
        into("in", ("a", 1, 1), ("a", None, 2), (None, 3, 3), ("a", 4, 4)),
        golden="session aggregate: null value, null key",
        form="cat",
    ),
    case(
        "session_count_counts_null_values",
        Count(_LONGS, Session(10)),
        into("in", ("a", 1, 1), ("a", None, 2)),
        golden="session count: null value",
    ),
    case(
        "session_reduce_takes_null_values",
        Reduce(_TEXTS, "pair", Session(10)),
        into("in", ("a", "1", 1), ("a", None, 2), ("a", "4", 4)),
        golden="session reduce: null value",
        form="pair",
    ),
    case(
        "session_gap_is_inclusive",
        _CAT,
        into("in", ("a", 1, 0), ("a", 2, 10), ("a", 3, 21)),
        golden="session gap inclusive",
        form="cat",
    ),
    case(
        "session_is_closed_after_gap_and_grace",
        Aggregate(_LONGS, "cat", Session(10, grace=5)),
        _LATE,
        config=LONG_RETENTION,
    ),
    case(
        "session_at_the_edge_of_its_retention_sends_no_tombstone_with_cache",
        Aggregate(_LONGS, "cat", Session(10, grace=5)),
        _LATE,
        golden="session late: end < streamTime-gap-grace",
        form="cat",
        config=_CACHE,
        deviation=RETENTION_EDGE,
    ),
    case(
        "session_is_forgotten_at_the_edge_of_its_retention",
        Aggregate(_LONGS, "cat", Session(10, grace=5)),
        _LATE,
        deviation=RETENTION_EDGE,
    ),
    case(
        "session_late_record_merges_into_a_live_session",
        _CAT,
        into("in", ("a", 1, 100), ("a", 2, 105), ("b", 9, 112), ("a", 3, 95), ("a", 4, 84)),
        golden="session late record merges into live session",
        form="cat",
    ),
    case(
        "session_same_timestamp_overwrites_without_tombstone",
        _CAT,
        into("in", ("a", 1, 5), ("a", 2, 5)),
        golden="session same-timestamp overwrite no tombstone",
        form="cat",
    ),
    case(
        "session_same_timestamp_loses_the_old_value_without_cache",
        _REGROUPED,
        _SAME_TIME,
        golden="session same-timestamp then groupBy count (old value lost?)",
        deviation="the old value is not lost: sums are right with and without a cache",
    ),
    case(
        "session_same_timestamp_keeps_the_old_value_with_cache",
        _REGROUPED,
        _SAME_TIME,
        golden="  same with cache",
        config=_CACHE,
    ),
    case(
        "session_sends_tombstones_without_cache",
        _CAT,
        _GROWING,
        golden="session tombstones with cache off",
        form="cat",
    ),
    case(
        "session_sends_tombstones_with_cache",
        _CAT,
        _GROWING,
        golden="session tombstones with cache on (TTD flush per record)",
        form="cat",
        config=_CACHE,
    ),
    case(
        "session_record_bridges_two_sessions",
        Aggregate(_TEXTS, "cat", Session(10, grace=20)),
        into(
            "in",
            ("a", "A", 0),
            ("a", "B", 25),
            ("a", "C", 10),
            ("a", "D", 18),
            ("a", "E", 100),
            ("a", "F", 60),
            ("a", "G", 75),
        ),
    ),
]
