"""Counts at the end of a run: scenarios, random examples, and the rows of the list.

Loaded by the conftest of all tests: where workers share them, the process that prints the end collects none.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

_SCENARIO = "test_tidemill.py::test_recorded_scenario["
_RANDOM = ("test_tidemill.py::test_random_scenario[", "test_tidemill.py::test_many_random_scenarios[")
_EXAMPLES = "random_examples"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Note how many random inputs a test looked at."""
    report = yield
    if report.when == "teardown" and any(name in item.nodeid for name in _RANDOM):
        said = str(getattr(item, "hypothesis_statistics", ""))
        report.user_properties.append((_EXAMPLES, sum(map(int, re.findall(r"(\d+) passing", said)))))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what was compared, if anything was."""
    counts = {
        outcome: sum(_SCENARIO in report.nodeid for report in terminalreporter.getreports(outcome))
        for outcome in ("passed", "xfailed", "failed")
    }
    ended = [
        report for report in terminalreporter.getreports("") if getattr(report, "when", "") == "teardown"
    ]
    examples = sum(value for report in ended for name, value in report.user_properties if name == _EXAMPLES)
    if not any(counts.values()) and not examples:
        return
    from conformance.parity import ROWS, Status

    terminalreporter.section("conformance with Kafka Streams")
    if any(counts.values()):
        terminalreporter.line(
            f"scenarios: {counts['passed']} answered alike, {counts['xfailed']} differently by decision, "
            f"{counts['failed']} failed"
        )
    terminalreporter.line(f"random examples: {examples} answered alike")
    rows = ", ".join(f"{sum(row.status is status for row in ROWS)} {status}" for status in Status)
    terminalreporter.line(f"rows of the list: {rows} (docs/conformance.md)")
