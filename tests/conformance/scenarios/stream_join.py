"""Stream-stream joins: bounds, order of matches, when unmatched records come out."""

from conformance.cases import case
from oracle.spec import LONG, Config, JoinKind, SelectKey, Stream, StreamJoin

_THROTTLED = "the end of a batch is the throttle: unmatched records are not held back for a second"


def join(kind: JoinKind, before: int, after: int, grace: int = 0) -> StreamJoin:
    return StreamJoin(Stream("l"), Stream("r"), "pair", kind, before, after, grace)


def _self_join(kind: JoinKind) -> StreamJoin:
    return StreamJoin(Stream("l"), Stream("l"), "pair", kind, 10, 10)


DOCUMENTED = [
    ("l", "k", None, 1000),
    ("r", "k", None, 2000),
    ("l", "k", "A", 3000),
    ("r", "k", "a", 4000),
    ("l", "k", "B", 5000),
    ("r", "k", "b", 6000),
    ("l", "k", None, 7000),
    ("r", "k", None, 8000),
    ("l", "k", "C", 9000),
    ("r", "k", "c", 10000),
    ("r", "k", None, 11000),
    ("l", "k", None, 12000),
    ("r", "k", None, 13000),
    ("r", "k", "d", 14000),
    ("l", "k", "D", 15000),
    ("l", "k", "E", 40000),
    ("l", "k", "F", 60000),
    ("r", "k", "f", 80000),
    ("l", "k", "G", 100000),
]
_BOUNDS = [
    ("l", "k", "A", 100),
    ("r", "k", "a", 110),
    ("r", "k", "b", 111),
    ("r", "k", "c", 90),
    ("r", "k", "d", 89),
]
_RETENTION = [
    ("l", "k", "A", 100),
    ("l", "z", "Z", 119),
    ("r", "k", "a", 100),
    ("l", "z", "Z", 120),
    ("r", "k", "b", 100),
    ("l", "z", "Z", 121),
    ("r", "k", "c", 100),
]
_THREE_OF_ONE = [("l", "k", "A", 100), ("l", "k", "B", 105), ("l", "k", "C", 98)]
_GOLDEN_KIND: dict[JoinKind, str] = {"inner": "join", "left": "leftJoin", "outer": "outerJoin"}

_OF_EVERY_KIND = [
    *(
        case(
            f"stream_join_{kind}_as_documented",
            join(kind, 15000, 15000, 5000),
            DOCUMENTED,
            golden=f"DOC stream-stream {theirs} w=15s g=5s",
            form="pair",
        )
        for kind, theirs in _GOLDEN_KIND.items()
    ),
    *(
        case(
            f"stream_join_{kind}_bounds_are_inclusive",
            join(kind, 10, 10),
            _BOUNDS,
            golden=f"boundaries {theirs} w=10 no grace",
            form="pair",
        )
        for kind, theirs in _GOLDEN_KIND.items()
    ),
]

_BOUNDS_AND_NULLS = [
    case(
        "stream_join_looks_only_back",
        join("inner", 10, 0),
        [
            ("l", "k", "A", 100),
            ("r", "k", "a", 95),
            ("r", "k", "b", 105),
            ("l", "k", "B", 105),
            ("l", "k", "C", 106),
        ],
        golden="asymmetric before(10) after(0): right in [l-10,l]",
        form="pair",
    ),
    case(
        "stream_join_left_waits_for_its_look_ahead",
        join("left", 0, 10),
        [("l", "k", "A", 100), ("r", "k", "a", 111), ("l", "k", "B", 112), ("l", "k", "C", 130)],
        golden="asym leftJoin before0 after10",
        form="pair",
    ),
    case(
        "stream_join_left_without_look_ahead_does_not_wait",
        join("left", 10, 0),
        [("l", "k", "A", 100), ("l", "k", "B", 101), ("l", "k", "C", 102), ("r", "k", "x", 130)],
        golden="asym leftJoin before10 after0",
        form="pair",
    ),
    case(
        "stream_join_inner_drops_null_keys",
        join("inner", 10, 10),
        [("l", None, "A", 100), ("r", None, "a", 100)],
        golden="null key/values",
        form="pair",
    ),
    case(
        "stream_join_left_gives_a_null_key_at_once",
        join("left", 10, 10),
        [("l", None, "A", 100), ("r", None, "a", 100), ("l", None, None, 100), ("l", "k", None, 100)],
        golden="null key/values left",
        form="pair",
    ),
    case(
        "stream_join_outer_gives_null_keys_of_both_sides_at_once",
        join("outer", 10, 10),
        [("l", None, "A", 100), ("r", None, "a", 100), ("l", "k", None, 100)],
        golden="null key/values outer",
        form="pair",
    ),
    case(
        "stream_join_outer_gives_the_right_side_first_at_the_same_time",
        join("outer", 10, 10),
        [
            ("l", "a", "A", 100),
            ("l", "d", "D", 100),
            ("r", "c", "c", 100),
            ("r", "b", "b", 100),
            ("l", "e", "E", 99),
            ("r", "z", "z", 200),
        ],
    ),
    case(
        "stream_join_left_looks_again_when_the_last_open_record_may_be_due",
        join("left", 10, 10),
        [
            ("l", "a", "A", 90),
            ("l", "b", "B", 95),
            ("l", "c", "C", 100),
            ("l", "d", "D", 101),
            ("l", "e", "E", 106),
            ("r", "b", "b", 104),
            ("l", "f", "F", 112),
        ],
    ),
    case(
        "stream_join_outer_looks_by_the_window_of_the_side_at_work",
        join("outer", 10, 2),
        [
            ("l", "a", "A", 100),
            ("r", "b", "b", 105),
            ("l", "c", "C", 106),
            ("r", "d", "d", 111),
            ("l", "e", "E", 140),
        ],
    ),
    case(
        "stream_join_null_value_advances_stream_time",
        join("left", 10, 10),
        [("l", "k", "A", 100), ("l", "k", None, 200), ("l", "z", "B", 150), ("l", "z", "C", 201)],
        golden="null-value record advances stream time (left join emission)?",
        form="pair",
    ),
]

_TIME = [
    case(
        "stream_join_left_late_record_comes_out_at_once",
        join("left", 10, 10),
        [("l", "k", "A", 100), ("l", "k", "B", 200), ("l", "k", "L", 150), ("l", "k", "M", 50)],
        golden="left: out-of-order left record with closed window emitted immediately",
        form="pair",
    ),
    case(
        "stream_join_left_late_right_still_matches_within_grace",
        join("left", 10, 10, 20),
        [
            ("l", "k", "A", 100),
            ("l", "x", "B", 125),
            ("r", "k", "a", 105),
            ("l", "x", "C", 140),
            ("l", "x", "D", 200),
        ],
        golden="left: late right still can join (before expiry) ",
        form="pair",
    ),
    case(
        "stream_join_left_unmatched_is_released_by_another_key",
        join("left", 10, 10),
        [("l", "k", "A", 100), ("r", "z", "y", 110), ("r", "z", "y", 111)],
        golden="left: emission only by record with ts==streamtime; other key triggers",
        form="pair",
    ),
    case(
        "stream_join_inner_is_bounded_only_by_the_other_sides_retention",
        join("inner", 10, 10),
        [
            ("l", "k", "A", 100),
            ("r", "k", "x", 1000),
            ("r", "k", "late", 95),
            ("l", "k", "late2", 996),
            ("l", "k", "late3", 95),
        ],
        golden="inner: join far beyond grace because store retention is per-side",
        form="pair",
    ),
    case(
        "stream_join_retention_edge_on_disk",
        join("inner", 10, 10),
        _RETENTION,
        golden="inner: retention edge persistent",
        form="pair",
        config=Config(in_memory=False),
    ),
    case(
        "stream_join_retention_edge_in_memory",
        join("inner", 10, 10),
        _RETENTION,
        golden="inner: retention edge memory",
        form="pair",
    ),
    case(
        "stream_join_matches_come_in_time_order_then_as_they_arrived",
        join("inner", 10, 10),
        [("l", "k", "A", 100), ("l", "k", "B", 95), ("l", "k", "A2", 100), ("r", "k", "a", 99)],
        golden="multi match order & duplicates",
        form="pair",
    ),
    case(
        "stream_join_left_is_throttled_by_the_wall_clock",
        join("left", 10, 10),
        [
            ("l", "k", "A", 100),
            ("l", "k", "B", 200),
            ("l", "k", "C", 300),
            (1000,),
            ("l", "k", "D", 400),
            ("l", "k", "E", 500),
        ],
        golden="left throttled 1000ms wallclock (default)",
        form="pair",
        config=Config(throttle=1000),
        deviation=_THROTTLED,
    ),
]

_SELF = [
    case(
        "stream_self_join",
        _self_join("inner"),
        _THREE_OF_ONE,
        golden="self join optimization=none",
        form="pair",
    ),
    case(
        "stream_self_join_optimized",
        _self_join("inner"),
        _THREE_OF_ONE,
        golden="self join optimization=all",
        form="pair",
        config=Config(optimize=True),
    ),
    case(
        "stream_self_join_outer_after_a_null_value",
        _self_join("outer"),
        [("l", "k", None, 200), ("l", "k", "A", 100), ("l", "k", "B", 195)],
    ),
    case(
        "stream_self_join_outer",
        _self_join("outer"),
        [("l", "k", "A", 100), ("l", "k", "B", 105), ("l", "k", "C", 150)],
        golden="self outer join",
        form="pair",
    ),
    case(
        "stream_join_left_after_a_new_key_keeps_null_keys",
        StreamJoin(SelectKey(Stream("l", LONG), "mod(2)"), Stream("r"), "pair", "left", 10, 10),
        [("l", "x", 3, 1), ("r", "1", "a", 2), ("l", "x", None, 3), ("l", None, 4, 4), ("r", "0", "b", 60)],
    ),
    case(
        "stream_join_hands_the_key_to_the_joiner",
        StreamJoin(Stream("l"), Stream("r"), "pair_with_key", "outer", 5, 10, 2),
        [("l", "k", "A", 10), ("r", "k", "a", 20), ("r", "j", "b", 12), ("l", "z", "Z", 60)],
    ),
]

CASES = [*_OF_EVERY_KIND, *_BOUNDS_AND_NULLS, *_TIME, *_SELF]
