"""Finds the tests that rows name, by reading files: nothing is imported from them and nothing runs."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from conformance.scenarios import CASES
from conformance.templates import TEMPLATES

TESTS = Path(__file__).parents[2]
RANDOM = "random:"


def exists(test: str) -> bool:
    """Whether a test that a row names is there: a scenario, a template, or a function of a test file.

    >>> exists("sliding_in_order"), exists("random:count"), exists("dsl/test_sources.py::test_pattern")
    (True, True, True)
    >>> exists("dsl/test_sources.py::test_nothing")
    False
    """
    if test.startswith(RANDOM):
        return test.removeprefix(RANDOM) in TEMPLATES
    if "::" not in test:
        return any(case.name == test for case in CASES)
    file, _, function = test.partition("::")
    return function in _functions(TESTS / file)


@cache
def _functions(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )
