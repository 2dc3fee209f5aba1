"""One instance per application id, wherever it runs and keeps its state: a claim held in Kafka.

The claim is membership in the group of the app's markers. Every transaction names the member, so the brokers
themselves refuse what an instance writes that has lost its place.
"""

from __future__ import annotations

import json
import os
import socket
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tidemill.engine.claim import ClaimWish, EngineClaim
from tidemill.errors import NotFound, TidemillError, Unreachable
from tidemill.kafka.admin import Admin
from tidemill.kafka.groups import committed_with_notes, describe_group
from tidemill.runtime.config import AppConfig
from tidemill.runtime.lock import AlreadyRunningError
from tidemill.runtime.topics import marker_topic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SESSION_MS = 20_000
_SLACK = 3.0
_PARTITION = 0
"""The partition of the marker topic whose offset tells who holds the claim: see the kernel's `Claim`."""
_PAUSE = 0.2


@dataclass(frozen=True, slots=True)
class Holder:
    """Who runs an app: what a refused instance tells of it."""

    host: str
    pid: int
    since: str
    home: str
    token: str

    @classmethod
    def me(cls, config: AppConfig) -> Holder:
        """This process, with a token that no other start has."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(socket.gethostname(), os.getpid(), now, str(config.folder), uuid.uuid4().hex)

    @classmethod
    def read(cls, text: str) -> Holder | None:
        """From what was written down; None if it means nothing."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None

    def is_at_home_of(self, other: Holder) -> bool:
        """Whether both keep their state in the same folder, whose lock only one can have."""
        return (self.host, self.home) == (other.host, other.home)

    def __str__(self) -> str:
        return f"process {self.pid} on host {self.host}, since {self.since}, state in {self.home}"


class InstanceClaim:
    """The claim of one start of an app: looked at without Spark, held by Spark's JVM."""

    def __init__(self, config: AppConfig, admin: Admin) -> None:
        self._config = config
        self._admin = admin
        self._group = marker_topic(config.application_id)
        self._me = Holder.me(config)
        self._client = config.consumer_client()
        self._patience = int(self._client.get("session.timeout.ms", _SESSION_MS)) / 1000 + _SLACK
        self._held: EngineClaim | None = None
        self._was_ours = False

    def wait_until_free(self) -> None:
        """Return once nobody else lives; an instance that died is still there for the session's time."""
        deadline = time.monotonic() + self._patience
        first: int | None = None
        while self._is_taken(deadline):
            beat, holder = self._last()
            if holder is not None:
                if holder == self._me or (not self._was_ours and holder.is_at_home_of(self._me)):
                    return  # the lock of that folder is ours: whoever it was has ended
                if first is not None and beat != first:
                    raise self._refusal(holder)
                first = beat
            if time.monotonic() > deadline:
                raise self._refusal(holder)
            time.sleep(_PAUSE)

    def was_ever_held(self) -> bool:
        """Whether Kafka remembers an instance; it forgets all a group has when nobody uses it for long."""
        return self._last()[1] is not None

    def take(self, spark: SparkSession, name: str) -> None:
        """Become the one instance; batches that pass the gate `name` are written as its."""
        wish = ClaimWish(
            name=name,
            application_id=self._config.application_id,
            group=self._group,
            client_id=f"{self._config.application_id}@{self._me.host}:{self._me.pid}",
            who=json.dumps(asdict(self._me)),
            client=self._client,
        )
        self._held = EngineClaim(spark, wish)
        self._held.take()
        self._was_ours = True

    def failure(self) -> TidemillError | None:
        """Why another instance may run, or Kafka takes us for dead; None while the claim is ours."""
        return None if self._held is None else self._held.failure()

    def is_ours(self) -> bool:
        """Whether Kafka still knows us as the one instance."""
        return self._held is not None and self.failure() is None and self._last()[1] == self._me

    def release(self) -> None:
        """Let the next instance in."""
        if self._held is not None:
            with suppress(Exception):  # a JVM that is gone holds nothing
                self._held.release()
            self._held = None

    def _is_taken(self, deadline: float) -> bool:
        while True:
            try:
                return describe_group(self._admin, self._group).is_active
            except NotFound:
                return False
            except Unreachable:
                # The first group of a cluster makes it create the topic of all groups, which may take long.
                if time.monotonic() > deadline:
                    raise

    def _last(self) -> tuple[int, Holder | None]:
        """A number that grows while the last instance lives, and who it is."""
        beat, who = committed_with_notes(self._admin, self._group).get((self._group, _PARTITION), (0, ""))
        return beat, Holder.read(who)

    def _refusal(self, holder: Holder | None) -> TidemillError:
        by = f": {holder}" if holder else ""
        return AlreadyRunningError(
            f"the app `{self._config.application_id}` runs already{by}",
            where=self._config.settings.bootstrap_servers,
            remedy="stop it first; one more instance needs an application id of its own",
        )
