"""Aggregations of streams without windows."""

from conformance.cases import case, into
from oracle.spec import LONG, STRING, Aggregate, Config, Count, GroupBy, GroupByKey, Reduce, Stream

_LONGS = GroupByKey(Stream("in", LONG))
_TEXTS = GroupByKey(Stream("in", STRING))

_NULLS_AND_DELETES = into(
    "in",
    ("a", 1, 10),
    ("a", 2, 5),
    ("a", None, 20),
    (None, 1, 20),
    ("a", -1, 7),
    ("a", 5, 3),
    ("b", -1, 9),
)

CASES = [
    case(
        "aggregate_skips_nulls_keeps_largest_timestamp_and_deletes_on_null",
        Aggregate(_LONGS, "sum_unless(-1)", store="sums"),
        _NULLS_AND_DELETES,
    ),
    case(
        "aggregate_deletes_with_cache_at_the_time_of_the_record",
        Aggregate(_LONGS, "sum_unless(-1)", store="sums"),
        _NULLS_AND_DELETES,
        golden="kv aggregate: null value/key; ts=max; aggregator returns null",
        config=Config(cache=True),
    ),
    case(
        "reduce_takes_the_first_value_as_it_is",
        Reduce(_TEXTS, "pair", store="pairs"),
        into("in", ("a", "1", 10), ("a", "2", 5), ("a", None, 6)),
        golden="kv reduce: first value is the aggregate, reducer not called",
        form="pair",
    ),
    case(
        "count_skips_null_keys_and_values",
        Count(_LONGS),
        into("in", ("a", 1, 10), ("a", None, 11), (None, 1, 12), ("b", 2, 3), ("a", 3, 4)),
    ),
    case(
        "group_by_counts_under_the_new_key_and_drops_a_null_one",
        Count(GroupBy(Stream("in", LONG), "mod(3)")),
        into("in", ("a", 1, 1), ("b", 4, 2), ("c", None, 3), (None, 7, 4), ("a", 2, 1)),
    ),
    case(
        "reduce_to_null_deletes_and_starts_again",
        Reduce(GroupByKey(Stream("in", STRING)), "latest"),
        into("in", ("a", "A", 5), ("a", "B", 2), ("a", None, 9), ("a", "C", 1)),
    ),
]
