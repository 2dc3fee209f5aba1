"""`tidemill metrics` and `tidemill top`: figures of running apps, without asking them."""

from __future__ import annotations

import pytest

from tidemill.runtime.figures import FiguresFile
from tidemill.runtime.metrics import Metrics


@pytest.fixture
def running(tmp_path, monkeypatch):
    """Two apps that run from this process, as far as anybody can see."""
    root = tmp_path / "data" / "apps"
    for name in ("billing", "words"):
        (root / name).mkdir(parents=True)
        (root / name / "app.json").write_text("{}")
        figures = {"app": name, "state": "RUNNING", "lag_seconds": None, **Metrics().snapshot({"late": 2})}
        FiguresFile(root / name).keep(lambda figures=figures: figures)
    return root


def test_figures_of_one_app(tidemill, running):
    lines = tidemill("metrics", "words").lines
    assert "state\tRUNNING" in lines
    assert "dropped.late\t2" in lines
    assert tidemill("metrics", "words", "-O", "json").json()["records_in"] == 0


def test_all_apps_for_prometheus(tidemill, running):
    text = tidemill("metrics", "--prometheus").out
    assert 'tidemill_records_dropped_total{app="billing",reason="late"} 2.0' in text
    assert 'tidemill_app_state{app="words",state="RUNNING"} 1.0' in text


def test_app_that_does_not_run_is_not_found(tidemill, running):
    result = tidemill("metrics", "nobody")
    assert result.code == 3
    assert "no app `nobody` runs here" in result.err


def test_top_once(tidemill, running, tmp_path):
    result = tidemill("top", "--once", "-O", "table")
    assert result.lines[0].split()[:4] == ["APP", "STATE", "IN/S", "OUT/S"]
    assert [line.split()[0] for line in result.lines[1:]] == ["billing", "words"]
    assert tidemill("top", "--once", "-O", "json").json()[0]["dropped"] == 2
    assert tidemill("top", "--once", "--state-dir", str(tmp_path), "-O", "json").json() == []
