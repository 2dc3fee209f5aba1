"""Stream-table joins."""

from conformance.cases import case
from oracle.spec import LONG, JoinKind, SelectKey, Stream, StreamTableJoin, Table


def _join(kind: JoinKind) -> StreamTableJoin:
    return StreamTableJoin(Stream("s"), Table("t"), "pair", kind)


DOCUMENTED = [
    ("s", "k", None, 1),
    ("t", "k", None, 2),
    ("s", "k", "A", 3),
    ("t", "k", "a", 4),
    ("s", "k", "B", 5),
    ("t", "k", "b", 6),
    ("s", "k", None, 7),
    ("t", "k", None, 8),
    ("s", "k", "C", 9),
    ("t", "k", "c", 10),
    ("t", "k", None, 11),
    ("s", "k", None, 12),
    ("t", "k", None, 13),
    ("t", "k", "d", 14),
    ("s", "k", "D", 15),
]

CASES = [
    case(
        "stream_table_inner_as_documented",
        _join("inner"),
        DOCUMENTED,
        golden="DOC stream-table join",
        form="pair",
    ),
    case(
        "stream_table_left_as_documented",
        _join("left"),
        DOCUMENTED,
        golden="DOC stream-table leftJoin",
        form="pair",
    ),
    case(
        "stream_table_looks_up_in_processing_order",
        _join("inner"),
        [("t", "k", "new", 100), ("s", "k", "A", 5), ("t", "k", "older", 50), ("s", "k", "B", 6)],
        golden="stream-table ooo: processing order not ts; result ts = stream ts",
        form="pair",
    ),
    case(
        "stream_table_left_keeps_null_keys",
        _join("left"),
        [("s", None, "A", 3), ("s", None, None, 3), ("t", None, "x", 3)],
        golden="stream-table null keys",
        form="pair",
    ),
    case(
        "stream_table_inner_drops_null_keys",
        _join("inner"),
        [("s", None, "A", 3), ("t", None, "x", 3)],
        golden="stream-table inner null keys",
        form="pair",
    ),
    case(
        "stream_table_left_after_a_new_key",
        StreamTableJoin(SelectKey(Stream("s", LONG), "mod(3)"), Table("t"), "pair", "left"),
        [("t", "1", "one", 1), ("s", "x", 4, 2), ("s", "x", 5, 3), ("s", "x", None, 4), ("s", None, 7, 5)],
    ),
]
