"""The plain clients against a real broker."""

from typing import Any

import pytest

from examples.plain_clients import app


def test_group_shares_the_letters_and_replay_reads_the_last_ones(
    kafka: Any, topic: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "SERVERS", kafka.bootstrap_servers)
    monkeypatch.setattr(app, "TOPIC", topic("letters", partitions=2))
    app.send(6)
    assert app.share() == {
        "ann": ["letter 0", "letter 2", "letter 4"],
        "cleo": ["letter 1", "letter 3", "letter 5"],
    }
    assert app.committed() == {0: 3, 1: 3}
    assert sorted(app.replay(0, last=2) + app.replay(1, last=1)) in (
        ["letter 2", "letter 4", "letter 5"],
        ["letter 3", "letter 4", "letter 5"],
    )
