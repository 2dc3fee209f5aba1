"""Writes docs/conformance.md from the list in tests/conformance/parity and the scenarios' deviations.

Run it after a change of the list: `python tools/conformance_page.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_TESTS = str(_ROOT / "tests")
if _TESTS not in sys.path:
    sys.path.insert(0, _TESTS)

from conformance.parity import GROUPS, ROWS, Group, Row, Status  # noqa: E402  the package is found by now
from conformance.parity.proof import RANDOM  # noqa: E402
from conformance.scenarios import CASES  # noqa: E402
from conformance.templates import TEMPLATES  # noqa: E402

PAGE = _ROOT / "docs" / "conformance.md"

_HEAD = """\
# Conformance

Kafka Streams 4.3.1 is the judge: the same topology and the same records go to the library and to Tidemill,
and the answers are compared record by record. This page lists every feature of the library and where Tidemill
stands:

- **passed**: it works as in Kafka Streams; the tests named would fail if it broke.
- **decided**: it differs on purpose; the reasons are under [Decisions](#decisions).
- **open**: it is not there yet, or no test proves it; the last column says what is missing.

The page is written by `python tools/conformance_page.py` from `tests/conformance/parity/`: change the list,
not the page.
"""
_RUN = """\
## Run it

```
make conformance
```

asks the real Kafka Streams and Tidemill about random topologies and timelines and ends with the counts of
this page. `TIDEMILL_EXAMPLES=200 make conformance` looks ten times longer than usual. `make test` has a
sample: every recorded scenario, and one random timeline per kind of topology.
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD, _RUN, _counts(), *(_group(group) for group in GROUPS), _decisions(), _deviations()]
    return "\n".join(parts)


def _counts() -> str:
    golden = sum(case.golden is not None for case in CASES)
    lines = [
        "## Counts",
        "",
        f"{len(CASES)} scenarios with recorded answers, {golden} of them golden data taken from the library; "
        f"{len(TEMPLATES)} kinds of random topologies.",
        "",
        "| group | rows | passed | decided | open |",
        "| --- | --- | --- | --- | --- |",
    ]
    for group in GROUPS:
        counts = " | ".join(str(group.count(status)) for status in Status)
        lines.append(f"| {group.letter}. {group.title} | {len(group.rows)} | {counts} |")
    totals = " | ".join(f"**{sum(row.status is status for row in ROWS)}**" for status in Status)
    return "\n".join([*lines, f"| **all** | **{len(ROWS)}** | {totals} |", ""])


def _group(group: Group) -> str:
    lines = [
        f"## {group.letter}. {group.title}",
        "",
        "| # | feature | status | tier | test, or what is missing |",
        "| --- | --- | --- | --- | --- |",
        *(_line(row) for row in group.rows),
        "",
    ]
    return "\n".join(lines)


def _line(row: Row) -> str:
    last = row.reason if row.status is Status.OPEN else _tests(row)
    tier = "" if row.status is Status.OPEN else row.tier
    return f"| {row.number} | {_cell(row.feature)} | {row.status} | {tier} | {_cell(last)} |"


def _tests(row: Row) -> str:
    if not row.tests:
        return "see the decision"
    more = f" and {len(row.tests) - 1} more" if len(row.tests) > 1 else ""
    return f"{_test(row.tests[0])}{more}"


def _test(test: str) -> str:
    if test.startswith(RANDOM):
        return f"random topologies `{test.removeprefix(RANDOM)}`"
    return f"`{test}`" if "::" in test else f"scenario `{test}`"


def _decisions() -> str:
    decided = (row for row in ROWS if row.status is Status.DECIDED)
    lines = [f"| {row.number} | {_cell(row.feature)} | {_cell(row.reason)} |" for row in decided]
    head = ["## Decisions", "", "| # | feature | what Tidemill does, and why |", "| --- | --- | --- |"]
    return "\n".join([*head, *lines, ""])


def _deviations() -> str:
    head = [
        "## Scenarios that are answered differently on purpose",
        "",
        "The tests expect these to differ: should Tidemill begin to answer as the library does, they fail.",
        "",
        "| scenario | decision |",
        "| --- | --- |",
    ]
    return "\n".join([*head, *_deviating(), ""])


def _deviating() -> Iterator[str]:
    for case in CASES:
        if case.deviation is not None:
            yield f"| `{case.name}` | {_cell(case.deviation)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
