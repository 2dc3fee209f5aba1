"""Processors of the user's own: stores, forwarded records, both clocks."""

from conformance.cases import case, into
from oracle.spec import LONG, STRING, Count, GroupByKey, Process, SelectKey, Stream

_LONGS = Stream("in", LONG)

CASES = [
    case(
        "processor_keeps_state_per_key",
        Process(_LONGS, "running_count", "counts"),
        into("in", ("a", 1, 5), ("b", 1, 3), ("a", None, 4), (None, 1, 6), ("a", 2, 2)),
    ),
    case(
        "processor_forwards_only_changes",
        Process(Stream("in", STRING), "changes", "last"),
        into(
            "in", ("a", "A", 1), ("a", "A", 2), ("b", "A", 3), ("a", None, 4), ("a", None, 5), ("a", "A", 1)
        ),
    ),
    case(
        "processor_headers_are_those_of_the_record",
        Process(_LONGS, "running_count", "counts"),
        [("in", "a", 1, 5, (("h", "one"),)), ("in", "a", 1, 6)],
        headers=True,
    ),
    case(
        "punctuation_by_stream_time_is_aligned_and_collapses",
        Process(_LONGS, "sums_by_stream_time(10)", "sums"),
        into(
            "in",
            ("a", 1, 25),
            ("b", 2, 29),
            ("a", 3, 30),
            ("a", 4, 28),
            ("b", 5, 71),
            ("a", 6, 79),
            ("a", 7, 80),
        ),
    ),
    case(
        "punctuation_by_wall_clock_keeps_its_grid",
        Process(_LONGS, "sums_by_wall_clock(10)", "sums"),
        [("in", "a", 1, 500), (9,), (1,), ("in", "b", 2, 1), (35,), (4,), (1,), (10,)],
    ),
    case(
        "processor_feeds_an_aggregation",
        Count(GroupByKey(SelectKey(Process(_LONGS, "running_count", "seen"), "value"))),
        into("in", ("a", 1, 5), ("b", 1, 3), ("a", 1, 4), ("c", 1, 9)),
    ),
]
