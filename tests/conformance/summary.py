"""Counts at the end of a run: scenarios, random examples, and the rows of the list.

Loaded by the conftest of all tests: where workers share them, the process that prints the end collects none.
"""

from __future__ import annotations

from typing import Any

_SCENARIO = "test_tidemill.py::test_recorded_scenario["


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what was compared, if anything was."""
    counts = {
        outcome: sum(_SCENARIO in report.nodeid for report in terminalreporter.getreports(outcome))
        for outcome in ("passed", "xfailed", "failed")
    }
    passed = terminalreporter.getreports("passed")
    examples = sum(count for report in passed for name, count in report.user_properties if name == "examples")
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
