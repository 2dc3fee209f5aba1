"""What a running app shows of itself."""

from __future__ import annotations

import io
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from tidemill.cli import app_status
from tidemill.errors import TidemillError


class Running:
    """As much of an app as is looked at."""

    application_id = "shop"

    def __init__(self, folder: Path) -> None:
        self.config = type("Config", (), {"folder": folder})()
        self.listeners: list[Any] = []

    def on_state_change(self, listener: Any) -> None:
        self.listeners.append(listener)

    def metrics(self) -> dict[str, Any]:
        return {
            "state": "RUNNING",
            "batches": 3,
            "last_batch_id": 2,
            "records_in": 1200,
            "records_out": 7,
            "records_done_per_second": 88.0,
            "lag": 0,
            "restarts": 1,
        }


def test_a_terminal_gets_one_line_that_changes(tmp_path: Path) -> None:
    class Soon(threading.Event):
        looks = 0

        def wait(self, timeout: float | None = None) -> bool:
            self.looks += 1
            return self.looks > 2

    stream, done = io.StringIO(), Soon()
    app_status._redrawn(Running(tmp_path), done, stream)  # type: ignore[arg-type]
    assert "shop RUNNING  batch 2  1,200 in  7 out  88/s  lag 0  1 restarts" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K"), "nothing of it is left in the end"


def test_the_log_has_everything_and_the_terminal_the_error_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    app = Running(tmp_path)

    def fail() -> None:
        with app_status.shown(app, quiet=False):  # type: ignore[arg-type]
            for state in ("STARTING", "RUNNING", "ERROR"):
                app.listeners[0](state, "")
            logging.getLogger("tidemill.runtime.watcher").warning("starts again in 1 s")
            logging.getLogger("tidemill.runtime.watcher").error("the app stops: broken")
            raise TidemillError("broken")

    with pytest.raises(TidemillError):
        fail()
    log = (tmp_path / "logs" / "app.log").read_text()
    for text in ("shop is STARTING", "shop is RUNNING", "starts again in 1 s", "ERROR   broken", "batch 2"):
        assert text in log
    assert "shop is ERROR" not in log
    shown = capfd.readouterr().err
    assert "shop is RUNNING" in shown
    assert "broken" not in shown, "the command itself says it"
    assert logging.getLogger("tidemill").handlers == []


def test_a_large_log_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_status, "_LARGEST_LOG", 10)
    log = tmp_path / "logs" / "app.log"
    app_status.open_log(log)
    log.write_text("x" * 11)
    app_status.open_log(log)
    assert not log.exists()
    assert (tmp_path / "logs" / "app.log.1").read_text() == "x" * 11
