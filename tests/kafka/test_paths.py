"""Where files are kept can be said by three rules, in this order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemill.kafka.paths import cache_dir, data_dir


@pytest.mark.parametrize(
    ("find", "own", "xdg", "below"),
    [
        (cache_dir, "TIDEMILL_CACHE_DIR", "XDG_CACHE_HOME", ".cache"),
        (data_dir, "TIDEMILL_DATA_DIR", "XDG_DATA_HOME", ".local/share"),
    ],
)
def test_own_variable_then_xdg_then_home(
    monkeypatch: pytest.MonkeyPatch, find, own: str, xdg: str, below: str
) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv(xdg, "/xdg")
    monkeypatch.setenv(own, "~/mine")
    assert find() == Path("/home/someone/mine")
    monkeypatch.delenv(own)
    assert find() == Path("/xdg/tidemill")
    monkeypatch.setenv(xdg, "relative/is/invalid")
    assert find() == Path("/home/someone") / below / "tidemill"
