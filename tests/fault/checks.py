"""The invariants of the fault matrix, as checks that say which one is broken and by what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from fault.ledger import Entry, Lines
from fault.workloads import Workload


class Violation(AssertionError):
    """An invariant does not hold."""

    def __init__(self, invariant: str, workload: str, text: str) -> None:
        super().__init__(f"{invariant} {workload}: {text}")
        self.invariant = invariant


def missing(workload: Workload, sent: Lines, read: Sequence[Entry], *, ordered: bool = True) -> int:
    """How many records of the output are still to come."""
    if _only_ends_count(workload, ordered):
        return _rows(workload.expected(sent)) - _rows(workload.found(read))
    return sum((_counted(workload.expected(sent)) - _counted(workload.found(read))).values())


def check_safety(workload: Workload, sent: Lines, read: Sequence[Entry], *, ordered: bool = True) -> None:
    """What must hold at every moment: nothing twice (I2), nothing wrong (I3), nothing out of order (I4)."""
    expected, found = workload.expected(sent), workload.found(read)
    if _only_ends_count(workload, ordered):
        return
    many, few = _counted(found), _counted(expected)
    for (key, value), times in (many - few).items():
        if (key, value) in few:
            raise Violation("I2", workload.name, f"{key}: {value} came {times + few[key, value]} times")
        raise Violation("I3", workload.name, f"{key}: {value} is not in the result of the input")
    for key, values in found.items() if workload.ordered and ordered else ():
        # Nothing is missing in between either: what is there is the beginning of what must come.
        if values != expected[key][: len(values)]:
            raise Violation("I4", workload.name, f"{key}: {values[-5:]} is not in the order of the input")
    if workload.name == "table-join":
        _check_versions(workload, sent, read)


def check_complete(workload: Workload, sent: Lines, read: Sequence[Entry], *, ordered: bool = True) -> None:
    """What must hold once all is processed: nothing is missing (I1), the rest as ever."""
    check_safety(workload, sent, read, ordered=ordered)
    if _only_ends_count(workload, ordered):
        _check_ends(workload, sent, read)
        return
    lost = _counted(workload.expected(sent)) - _counted(workload.found(read))
    if lost:
        raise Violation(
            "I1", workload.name, f"{sum(lost.values())} records are missing, as {next(iter(lost))}"
        )
    if workload.name == "table-join":
        orders = {entry.value for entry in sent("orders")}
        joined = {entry.value.partition("/")[0] for entry in read}
        if orders != joined:
            raise Violation("I1", workload.name, f"{len(orders - joined)} orders have no result")


def _only_ends_count(workload: Workload, ordered: bool) -> bool:
    """Whether results depend on an order that nobody promises: running totals of keys in two partitions."""
    return workload.name == "totals" and not ordered


def _check_ends(workload: Workload, sent: Lines, read: Sequence[Entry]) -> None:
    """The last totals of a key are the same in any order, and there is one row for each record."""
    expected, found = workload.expected(sent), workload.found(read)
    for key, rows in expected.items():
        counts = sorted(int(row.partition(",")[0]) for row in found.get(key, []))
        if counts != list(range(1, len(rows) + 1)):
            raise Violation("I1", workload.name, f"{key}: counts are {counts[-5:]}, {len(rows)} records came")
        last = max(found[key], key=lambda row: int(row.partition(",")[0]))
        if last != rows[-1]:
            raise Violation("I3", workload.name, f"{key}: ends with {last} instead of {rows[-1]}")


def _rows(by_key: Mapping[str, Sequence[str]]) -> int:
    return sum(len(rows) for rows in by_key.values())


def check_whole(lines: Mapping[str, Sequence[Entry]]) -> None:
    """No torn batch (I5): what one task writes to several topics becomes visible together.

    Partition n of `echo` and of `totals` is written by task n alone, one record each for every input record.
    """
    echo, totals = (Counter(entry.partition for entry in lines[name]) for name in ("echo", "totals"))
    if echo != totals:
        raise Violation("I5", "echo and totals", f"{dict(echo)} records of one, {dict(totals)} of the other")


def _check_versions(workload: Workload, sent: Lines, read: Sequence[Entry]) -> None:
    """Rows that change meanwhile: every order once, with a row that was sent, never an older one again."""
    versions = defaultdict(set)
    for row in sent("users"):
        versions[row.key].add(row.value)
    last: dict[str, int] = {}
    seen: set[str] = set()
    for entry in read:
        order, _, row_value = entry.value.partition("/")
        if order in seen:
            raise Violation("I2", workload.name, f"{order} was joined twice")
        seen.add(order)
        if row_value not in versions[entry.key]:
            raise Violation("I3", workload.name, f"{order} was joined with {row_value!r}, which nobody sent")
        version = int(row_value[1:])
        if version < last.get(entry.key, 0):
            raise Violation("I4", workload.name, f"{entry.key} fell from v{last[entry.key]} to {row_value}")
        last[entry.key] = version


def _counted(rows: Mapping[str, Sequence[str]]) -> Counter[tuple[str, str]]:
    return Counter((key, value) for key, values in rows.items() for value in values)
