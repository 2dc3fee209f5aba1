"""Table-table joins."""

from conformance.cases import case
from conformance.scenarios.stream_table import DOCUMENTED as _STREAM_TABLE
from oracle.spec import (
    LONG,
    Aggregate,
    Count,
    Filter,
    GroupByKey,
    JoinKind,
    Stream,
    Table,
    TableJoin,
    Tumbling,
)

_SIDES = {"s": "l", "t": "r"}
DOCUMENTED = [(_SIDES[topic], *rest) for topic, *rest in _STREAM_TABLE]
_GOLDEN_KIND: dict[JoinKind, str] = {"inner": "join", "left": "leftJoin", "outer": "outerJoin"}


def _join(kind: JoinKind, store: str | None = None) -> TableJoin:
    return TableJoin(Table("l"), Table("r"), "pair", kind, store)


CASES = [
    *(
        case(
            f"table_join_{kind}_as_documented",
            _join(kind),
            DOCUMENTED,
            golden=f"DOC table-table {theirs}",
            form="pair",
        )
        for kind, theirs in _GOLDEN_KIND.items()
    ),
    *(
        case(
            f"table_join_{kind}_stored",
            _join(kind, "joined"),
            DOCUMENTED,
            golden=f"table-table {theirs} materialized nocache",
            form="pair",
        )
        for kind, theirs in _GOLDEN_KIND.items()
    ),
    case(
        "table_join_takes_the_larger_timestamp",
        _join("inner"),
        [
            ("l", "k", "A", 10),
            ("r", "k", "a", 5),
            ("l", "k", "B", 3),
            ("r", "k", "b", 20),
            ("l", "k", None, 15),
            ("l", "k", "C", 1),
        ],
        golden="table-table ts=max, ooo",
        form="pair",
    ),
    case(
        "table_join_drops_null_keys",
        _join("outer"),
        [("l", None, "A", 10)],
        golden="table-table null key dropped",
        form="pair",
    ),
    case(
        "table_self_join_gives_every_update_twice_and_no_tombstone",
        TableJoin(Table("l"), Table("l"), "pair", "inner"),
        [("l", "k", "A", 1), ("l", "k", "B", 2), ("l", "k", None, 3)],
        golden="table self join",
        form="pair",
        deviation="a deleted row gives a tombstone; the library gives none",
    ),
    case(
        "table_join_of_windowed_tables",
        TableJoin(
            Count(GroupByKey(Stream("l")), Tumbling(10, grace=5)),
            Aggregate(GroupByKey(Stream("r")), "cat", Tumbling(10, grace=5)),
            "pair",
            "outer",
        ),
        [
            ("l", "k", "A", 1),
            ("r", "k", "a", 5),
            ("r", "k", "b", 12),
            ("l", "k", "B", 9),
            ("r", "k", "c", 30),
            ("l", "k", "C", 2),
            ("r", "k", "d", 3),
        ],
    ),
    case(
        "table_join_of_filtered_tables",
        TableJoin(Filter(Table("l", LONG), "gt(2)"), Filter(Table("r", LONG), "even"), "add", "outer"),
        [
            ("l", "k", 1, 1),
            ("r", "k", 4, 2),
            ("l", "k", 3, 3),
            ("r", "k", 5, 4),
            ("l", "k", 2, 5),
            ("l", "k", None, 6),
        ],
    ),
]
