"""Every example in the docstrings of the front end runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import tidemill

ROOMS = ("dsl", "topology", "serde", "types")
MODULES = ("tidemill.windows", "tidemill.time", "tidemill.place", "tidemill.errors", "tidemill.serdes")


def _modules() -> list[str]:
    found = list(MODULES)
    for room in ROOMS:
        package = importlib.import_module(f"tidemill.{room}")
        found += [info.name for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return found


@pytest.mark.parametrize("name", _modules())
def test_examples_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_examples_of_the_package_itself_run() -> None:
    assert doctest.testmod(tidemill).failed == 0
