"""The claim on an application id that the JVM holds in Kafka, because the JVM is what writes there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from tidemill.engine.failures import query_failure
from tidemill.errors import TidemillError


@dataclass(frozen=True, slots=True)
class ClaimWish:
    """What is claimed, and as whom."""

    name: str
    """The name of the gate that batches pass: they are written under the claim of the same name."""
    application_id: str
    group: str
    client_id: str
    who: str
    client: Mapping[str, str] = field(repr=False)
    """Settings of the Java client; holds secrets."""


class EngineClaim:
    """Held until it is released, or until the JVM has been silent for the session's time."""

    def __init__(self, spark: SparkSession, wish: ClaimWish) -> None:
        self._jvm: Any = spark._jvm
        self._wish = wish
        self._claim: Any = None

    def take(self) -> None:
        """Begin to join as the one instance, in the place of whoever was it.

        The group may keep newcomers waiting for some seconds. Nothing is written before it has let us in: the
        first batch waits for that.
        """
        wish, kernel = self._wish, self._jvm.io.tidemill.sink
        options = kernel.ClaimOptions(
            wish.group,
            wish.group,
            wish.application_id,
            wish.client_id,
            wish.who,
            self._settings(),
        )
        self._claim = kernel.Claim.take(wish.name, options)

    def failure(self) -> TidemillError | None:
        """Why the claim is not ours any more, None while it is."""
        if self._claim is None or not self._claim.isLost():
            return None
        try:
            self._claim.confirm()
        except Exception as error:  # noqa: BLE001 -- whatever the gateway raises is translated
            return query_failure(error)
        return None

    def release(self) -> None:
        """Leave the group."""
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def _settings(self) -> Any:
        settings = self._jvm.java.util.HashMap()
        for name, value in self._wish.client.items():
            settings.put(name, value)
        return settings
