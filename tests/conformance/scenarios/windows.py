"""Tumbling, hopping and unlimited windows."""

from conformance.cases import case, into
from oracle.spec import (
    LONG,
    STRING,
    Aggregate,
    Config,
    Count,
    GroupByKey,
    Hopping,
    Reduce,
    Stream,
    Tumbling,
    Unlimited,
)

_LONGS = GroupByKey(Stream("in", LONG))
_TEXTS = GroupByKey(Stream("in", STRING))
_WITH_A_DELETE = into("in", ("a", "1", 5), ("a", "del", 3), ("a", "2", 1))

CASES = [
    case(
        "tumbling_aggregate_takes_null_values_but_not_null_keys",
        Aggregate(_LONGS, "cat", Tumbling(10)),
        into("in", ("a", 1, 1), ("a", None, 2), (None, 3, 3), ("a", 4, 4)),
        golden="tumbling aggregate: null value, null key",
        form="cat",
    ),
    case(
        "tumbling_count_counts_null_values",
        Count(_LONGS, Tumbling(10)),
        into("in", ("a", 1, 1), ("a", None, 2), ("a", 4, 4)),
        golden="tumbling count: null value counted?",
    ),
    case(
        "tumbling_reduce_takes_null_values",
        Reduce(_TEXTS, "pair", Tumbling(10)),
        into("in", ("a", "1", 1), ("a", None, 2), ("a", "4", 4)),
        golden="tumbling reduce: null value",
        form="pair",
    ),
    case(
        "tumbling_aggregator_null_deletes_the_window",
        Aggregate(_TEXTS, "cat_unless(del)", Tumbling(10)),
        _WITH_A_DELETE,
    ),
    case(
        "tumbling_aggregator_null_deletes_with_cache_at_the_time_of_the_record",
        Aggregate(_TEXTS, "cat_unless(del)", Tumbling(10)),
        _WITH_A_DELETE,
        golden="window aggregator returns null",
        form="cat",
        config=Config(cache=True),
    ),
    case(
        "hopping_windows_start_at_zero_and_come_oldest_first",
        Aggregate(_LONGS, "cat", Hopping(10, 4)),
        into("in", ("a", 1, 3), ("a", 2, 8), ("a", 3, 10), ("a", 4, 12)),
        golden="hopping(10,4): windows, order, boundaries",
        form="cat",
    ),
    case(
        "hopping_late_record_still_updates_open_windows",
        Aggregate(_LONGS, "cat", Hopping(10, 5, grace=2)),
        into("in", ("a", 1, 7), ("a", 2, 12), ("a", 3, 7), ("a", 4, 17), ("a", 5, 7)),
        golden="hopping late: only closed windows skipped, dropped counted per window",
        form="cat",
    ),
    case(
        "tumbling_window_is_closed_by_another_key",
        Aggregate(_LONGS, "cat", Tumbling(10)),
        into("in", ("a", 1, 5), ("b", 1, 10), ("a", 2, 9)),
        golden="tumbling: other key advances stream time",
        form="cat",
    ),
    case(
        "tumbling_window_is_not_closed_by_a_null_key",
        Aggregate(_LONGS, "cat", Tumbling(10)),
        into("in", ("a", 1, 5), (None, 1, 100), ("a", 2, 9)),
        golden="tumbling: null-key record does NOT advance stream time",
        form="cat",
    ),
    case(
        "tumbling_window_closes_when_stream_time_reaches_end_plus_grace",
        Aggregate(_LONGS, "sum", Tumbling(10, grace=5)),
        into(
            "in",
            ("a", 1, 0),
            ("a", 2, 9),
            ("a", 3, 10),
            ("a", 4, 5),
            ("a", 5, 14),
            ("a", 6, 9),
            ("a", 7, 15),
            ("a", 8, 9),
        ),
    ),
    case(
        "unlimited_window_ignores_records_before_its_start",
        Aggregate(_LONGS, "cat", Unlimited(100)),
        into("in", ("a", 1, 50), ("a", 2, 100), ("a", 3, 500), ("a", 4, 150)),
        golden="unlimited windows startOn 100",
        form="cat",
    ),
]
