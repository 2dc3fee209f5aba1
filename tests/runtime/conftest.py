"""What tests of running apps share: apps on the run's broker and Spark."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.broker import Broker
from tidemill.kafka.embedded import Cluster
from tidemill.runtime import App


@pytest.fixture(scope="session")
def broker(kafka: Cluster) -> Broker:
    return Broker(kafka)


@pytest.fixture
def make_app(broker: Broker, spark: Any, tmp_path: Path) -> Iterator[Callable[..., App]]:
    """Apps with an id of their own on the shared broker and Spark; stopped when the test ends."""
    made: list[App] = []

    def make(builder: Any, *, application_id: str | None = None, **settings: Any) -> App:
        app = App(
            application_id or f"app-{uuid.uuid4().hex[:8]}",
            builder,
            **{
                "bootstrap_servers": broker.servers,
                "spark": spark,
                "tasks": 2,
                "state_dir": tmp_path / "state",
                "restart_backoff_ms": 50,
                **settings,
            },
        )
        made.append(app)
        return app

    yield make
    for app in made:
        app.stop(10)


@pytest.fixture
def failpoint(spark):
    """Sets failpoints of the shared Spark; none are left behind."""
    system, points = spark._jvm.System, spark._jvm.io.tidemill.sink.Failpoint

    def set_(text: str) -> None:
        points.reset()
        system.setProperty("tidemill.failpoint", text)

    yield set_
    system.clearProperty("tidemill.failpoint")
