"""Several streams folded into one aggregate."""

from conformance.cases import LONG_RETENTION, case
from oracle.spec import Cogroup, GroupByKey, Session, Sliding, Stream, Suppress, Tumbling, Window


def _cogroup(window: Window | None = None) -> Cogroup:
    return Cogroup((GroupByKey(Stream("l")), GroupByKey(Stream("r"))), ("cat", "cat(-)"), window)


_TWO_INPUTS = [
    ("l", "a", "A", 5),
    ("r", "a", "x", 3),
    ("l", "a", None, 6),
    ("r", None, "y", 6),
    ("r", "b", "z", 25),
    ("l", "a", "B", 7),
    ("r", "a", "w", 8),
    ("l", "a", "C", 30),
]

CASES = [
    case("cogroup_folds_every_input_into_one_row", _cogroup(), _TWO_INPUTS),
    case("cogroup_tumbling_judges_lateness_per_input", _cogroup(Tumbling(10)), _TWO_INPUTS),
    case("cogroup_sliding", _cogroup(Sliding(10, grace=5)), _TWO_INPUTS),
    case("cogroup_session", _cogroup(Session(5, grace=5)), _TWO_INPUTS),
    case(
        "cogroup_tumbling_gives_final_rows_when_suppressed",
        Suppress(_cogroup(Tumbling(10))),
        _TWO_INPUTS,
        config=LONG_RETENTION,
    ),
]
