"""Stream-global table joins."""

from conformance.cases import case
from oracle.spec import GlobalJoin, GlobalTable, JoinKind, Stream


def _join(kind: JoinKind) -> GlobalJoin:
    return GlobalJoin(Stream("s", "fk string"), GlobalTable("t"), "field(fk)", "field_pair(fk)", kind)


_STEPS = [
    ("t", "g1", "x", 1),
    ("s", None, {"fk": "g1"}, 2),
    ("s", "k", {"fk": "g2"}, 3),
    ("s", "k", {"fk": None}, 4),
    ("s", "k", None, 5),
    ("t", "g1", None, 6),
    ("s", "k", {"fk": "g1"}, 7),
]

CASES = [
    case("global_inner", _join("inner"), _STEPS, golden="global join", form="pair"),
    case("global_left", _join("left"), _STEPS, golden="global leftJoin", form="pair"),
]
