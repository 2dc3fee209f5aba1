"""The hand-made transaction against a real broker."""

from typing import Any

import pytest

from examples.transaction import app


def test_crash_in_the_middle_books_nothing_twice(
    kafka: Any, topic: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "SERVERS", kafka.bootstrap_servers)
    monkeypatch.setattr(app, "INPUT", topic("transfers"))
    monkeypatch.setattr(app, "OUTPUT", topic("bookings"))
    monkeypatch.setattr(app, "GROUP", app.OUTPUT)
    app.fill()
    with pytest.raises(app.Crash):
        app.book_all(crash_at=4)
    assert app.book_all() == 2
    assert app.bookings("read_committed") == [f"ann: {amount}" for amount in (10, 20, 30, 40, 50)]
    # The aborted booking is in the log all the same; only readers of committed records do not see it.
    assert app.bookings("read_uncommitted").count("ann: 40") == 2
