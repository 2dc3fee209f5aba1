"""Which record's headers a result carries."""

from conformance.cases import case
from conformance.scenarios.stream_join import join
from oracle.spec import (
    LONG,
    Aggregate,
    Config,
    Filter,
    GroupByKey,
    MapValues,
    Session,
    Stream,
    StreamTableJoin,
    Suppress,
    Table,
    Tumbling,
)


def _h(text: str) -> tuple[tuple[str, str], ...]:
    return (("h", text),)


_LONGS = GroupByKey(Stream("in", LONG))
_THREE = [
    ("in", "a", 1, 1, _h("one")),
    ("in", "a", 2, 3, (*_h("two"), ("x", "y"))),
    ("in", "b", 3, 30, _h("three")),
]

CASES = [
    case(
        "headers_of_a_match_are_those_of_the_later_record",
        join("inner", 10, 10),
        [("l", "k", "A", 100, _h("L")), ("r", "k", "a", 101, _h("R"))],
        golden="headers inner",
        form="pair",
        headers=True,
    ),
    case(
        "headers_of_an_unmatched_record_are_those_of_the_record_that_released_it",
        join("left", 10, 10),
        [
            ("l", "k", "A", 100, _h("L1")),
            ("l", "q", "B", 200, _h("L2")),
            ("l", "q", "C", 300, _h("L3")),
        ],
        golden="headers left emission",
        form="pair",
        headers=True,
    ),
    case(
        "headers_pass_stateless_steps",
        MapValues(Filter(Stream("in", LONG), "gt(1)"), "text"),
        _THREE,
        headers=True,
    ),
    case(
        "headers_of_an_aggregate_are_those_of_the_record",
        Aggregate(_LONGS, "sum", Tumbling(10)),
        _THREE,
        headers=True,
    ),
    case(
        "headers_of_a_suppressed_result_are_those_of_the_last_update",
        Suppress(Aggregate(_LONGS, "sum", Tumbling(10))),
        _THREE,
        headers=True,
    ),
    case(
        "headers_of_a_session_vanish_without_cache",
        Aggregate(_LONGS, "sum", Session(10)),
        _THREE,
        headers=True,
        deviation="a session result carries the headers of its record, with and without a cache",
    ),
    case(
        "headers_of_a_session_stay_with_cache",
        Aggregate(_LONGS, "sum", Session(10)),
        _THREE,
        config=Config(cache=True),
        headers=True,
    ),
    case(
        "headers_of_a_table_lookup_are_those_of_the_stream_record",
        StreamTableJoin(Stream("s"), Table("t"), "pair", "left"),
        [("t", "k", "x", 1, _h("T")), ("s", "k", "A", 2, _h("S"))],
        headers=True,
    ),
]
