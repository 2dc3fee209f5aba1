"""What all tests share: expectations kept as files a reviewer can read."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from conformance.summary import pytest_terminal_summary

__all__ = ["golden", "pytest_terminal_summary"]

_RENEW = os.environ.get("TIDEMILL_GOLDEN") == "write"


_LONG = ("tests/fault/", "tests/cli/test_demo.py", "tests/runtime/", "tests/cli/", "tests/conformance/")
"""Where long tests are, the longest first: begun last, one process would be busy while the other waits."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest; within a file the order stays."""
    items.sort(key=lambda item: next((n for n, part in enumerate(_LONG) if part in item.nodeid), len(_LONG)))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file of the `golden` folder beside the test; TIDEMILL_GOLDEN=write renews it."""

    def check(name: str, text: str) -> None:
        path = request.path.parent / "golden" / name
        if _RENEW:
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{path} differs; TIDEMILL_GOLDEN=write renews it"

    return check
