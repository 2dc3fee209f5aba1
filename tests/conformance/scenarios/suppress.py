"""Suppressed updates: final results of windows, rate limits, full buffers."""

from conformance.cases import case, into
from oracle.spec import (
    LONG,
    STRING,
    Aggregate,
    Count,
    GroupByKey,
    Session,
    Sliding,
    Stream,
    Suppress,
    Table,
    Tumbling,
    Window,
)

_ONE_FINAL = (
    "a window gives one final result; the library can give a second one at the very moment of closing"
)


def _final(window: Window) -> Suppress:
    return Suppress(Aggregate(GroupByKey(Stream("in", LONG)), "cat", window))


_ROWS = Table("t", LONG, store="rows")

CASES = [
    case(
        "suppress_gives_windows_that_close_together_by_the_bytes_of_their_keys",
        _final(Tumbling(10)),
        into("in", ("b", 1, 1), ("ab", 2, 2), ("a", 3, 3), ("b", 4, 40)),
    ),
    case(
        "suppress_tumbling_until_the_window_closes",
        _final(Tumbling(10, grace=2)),
        into(
            "in",
            ("a", 1, 1),
            ("b", 2, 9),
            ("a", 3, 5),
            ("a", 4, 11),
            ("c", 5, 12),
            ("a", 6, 3),
            ("a", 7, 50),
        ),
        golden="suppress untilWindowCloses tumbling 10 grace 2",
        form="cat",
    ),
    case(
        "suppress_sliding_until_the_window_closes",
        _final(Sliding(10)),
        into("in", ("a", 1, 20), ("a", 2, 25), ("a", 3, 31), ("a", 4, 36), ("a", 5, 60)),
        golden="suppress sliding",
        form="cat",
        deviation=_ONE_FINAL,
    ),
    case(
        "suppress_sliding_gives_two_finals_for_equal_timestamps",
        _final(Sliding(10)),
        into("in", ("a", 1, 20), ("a", 2, 20), ("a", 3, 40)),
        deviation=_ONE_FINAL,
    ),
    case(
        "suppress_session_until_the_window_closes",
        _final(Session(10)),
        into("in", ("a", 1, 0), ("a", 2, 5), ("b", 3, 15), ("b", 4, 16), ("b", 5, 50)),
        golden="suppress session gap 10",
        form="cat",
        deviation=_ONE_FINAL,
    ),
    case(
        "suppress_is_not_advanced_by_dropped_records",
        _final(Tumbling(10)),
        into("in", ("a", 1, 1), (None, 2, 100), ("a", 2, 9), ("a", 3, 10)),
        golden="suppress late dropped record doesn't advance; null-key no",
        form="cat",
    ),
    case(
        "suppress_for_a_time_limit",
        Suppress(_ROWS, limit=10),
        into(
            "t",
            ("a", 1, 0),
            ("a", 2, 5),
            ("b", 1, 6),
            ("z", 1, 10),
            ("z", 2, 16),
            ("b", None, 20),
            ("q", 1, 40),
        ),
        golden="untilTimeLimit(10) unbounded",
    ),
    case(
        "suppress_gives_the_oldest_when_full",
        Suppress(_ROWS, limit=1000, max_records=2),
        into("t", ("a", 1, 0), ("b", 1, 5), ("a", 2, 6), ("c", 1, 7)),
        golden="untilTimeLimit maxRecords(2) emitEarly",
    ),
    case(
        "suppress_gives_the_oldest_when_its_bytes_are_full",
        Suppress(_ROWS, limit=1000, max_bytes=100),
        into("t", ("a", 1, 0), ("b", 1, 5), ("a", 2, 6), ("c", 1, 7), ("b", None, 8)),
        deviation="bytes are those of our own row form, which is larger than the library's",
    ),
    case(
        "suppress_fails_when_full",
        Suppress(_ROWS, limit=1000, max_records=1, when_full="shut_down"),
        into("t", ("a", 1, 0), ("b", 1, 5)),
        golden="maxRecords(1).shutDownWhenFull",
    ),
    case(
        "suppress_for_no_time_passes_on_at_once",
        Suppress(_ROWS, limit=0),
        into("t", ("a", 1, 5), ("a", 2, 3)),
        golden="untilTimeLimit(0)",
    ),
    case(
        "suppress_swallows_tombstones_of_windows",
        Suppress(Aggregate(GroupByKey(Stream("in", STRING)), "cat_unless(del)", Tumbling(10))),
        into("in", ("a", "1", 1), ("a", "del", 2), ("b", "1", 20)),
        golden="suppress untilWindowCloses then tombstone dropped (aggregator null)",
        form="cat",
    ),
    case(
        "suppress_until_close_needs_a_window",
        Suppress(Count(GroupByKey(Stream("in", LONG)))),
        into("in", ("a", 1, 1)),
    ),
    case(
        "suppress_refuses_a_versioned_table",
        Suppress(Table("t", LONG, history=100), limit=10),
        into("t", ("a", 1, 1)),
    ),
    case(
        "suppress_for_a_time_limit_within_windows",
        Suppress(Count(GroupByKey(Stream("in", LONG)), Tumbling(10, grace=20)), limit=5),
        into("in", ("a", 1, 1), ("a", 2, 3), ("b", 1, 7), ("a", 3, 12), ("a", 4, 4), ("b", 2, 30)),
    ),
]
