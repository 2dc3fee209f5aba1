"""Kafka clients made one way: the settings every producer, consumer and admin client of ours has."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tidemill.errors import TidemillError
from tidemill.kafka.errors import Subject, error_code, translate
from tidemill.kafka.settings import Settings

T = TypeVar("T")

# Java's default partitioner: keyed records of every client land in the same partition.
PARTITIONER = "murmur2_random"
REQUEST_TIMEOUT = 10.0
# Brokers that are all down this long are not coming back within a command.
DOWN_GRACE = 2.0

_FATAL = {"_AUTHENTICATION", "_SSL"}
_DOWN = {"_ALL_BROKERS_DOWN", "_RESOLVE"}


def client_config(settings: Settings, *, verbose: bool = False) -> dict[str, Any]:
    """What all clients have in common. Holds secrets: pass it on and forget it."""
    config: dict[str, Any] = {
        "client.id": "tidemill",
        "socket.connection.setup.timeout.ms": 5000,
        "reconnect.backoff.max.ms": 1000,
        **settings.librdkafka(),
    }
    if not verbose:
        config.setdefault(
            "log_level", 2
        )  # librdkafka writes to stderr by itself; errors come through callbacks
    return config


def producer_config(settings: Settings, *, verbose: bool = False) -> dict[str, Any]:
    """The one producer configuration: Java's partitioner always, idempotent unless `acks` forbids."""
    config = client_config(settings, verbose=verbose)
    if str(config.get("acks", config.get("request.required.acks", "all"))) in {"all", "-1"}:
        config.setdefault("enable.idempotence", "true")
    return {"linger.ms": 5, **config, "partitioner": PARTITIONER}


def consumer_config(settings: Settings, *, group: str | None = None, verbose: bool = False) -> dict[str, Any]:
    """A consumer's configuration; without a group it never commits an offset, with one what it stored."""
    config = client_config(settings, verbose=verbose)
    config.setdefault("enable.partition.eof", "true")
    if group is None:
        return {
            **config,
            "group.id": config.get("group.id", "tidemill-reader"),
            "enable.auto.commit": "false",
        }
    return {**config, "group.id": group, "enable.auto.offset.store": "false"}


@dataclass
class Watch:
    """Listens to a client's error events, so that a wrong password fails at once and a dead cluster soon."""

    settings: Settings
    last: str = ""
    fatal: Any = None
    down_since: float | None = None
    _down: Any = field(default=None, repr=False)

    def __call__(self, error: Any) -> None:
        code = error_code(error)
        if code in _FATAL:
            self.fatal = self.fatal or error
        elif code in _DOWN:
            self._down = error
            self.down_since = self.down_since or time.monotonic()
            if code == "_RESOLVE":
                self.last = str(error.str())
        else:
            self.last = str(error.str())

    @property
    def where(self) -> str:
        return self.settings.bootstrap_servers

    def alive(self) -> None:
        """An answer came, or a new question is asked: what was down may be back."""
        self.down_since = None

    def check_login(self) -> None:
        """Raise if a broker has refused us; no use in going on."""
        if self.fatal is not None:
            raise self.error(self.fatal)

    def check(self) -> None:
        """The same, and raise as well if no broker has been there for a while."""
        self.check_login()
        if self.down_for(DOWN_GRACE):
            raise self.error(self._down)

    def down_for(self, seconds: float) -> bool:
        """Whether all brokers went away so long ago; that they came back shows only in an answer."""
        return self.down_since is not None and time.monotonic() - self.down_since > seconds

    def error(self, error: Any, subject: Subject | None = None) -> TidemillError:
        """A client's error as ours, secrets masked."""
        told = translate(error, where=self.where, subject=subject, hint=self.settings.redact(self.last))
        told.what = self.settings.redact(told.what)
        return told

    def wait(self, future: Future[T], poll: Callable[[float], object], subject: Subject | None = None) -> T:
        """The result of an admin request, with the error events looked at meanwhile."""
        self.alive()
        deadline = time.monotonic() + REQUEST_TIMEOUT + 1
        pause = 0.002
        while True:
            try:
                result = future.result(timeout=pause)
            except TimeoutError:
                poll(0)
                self.check()
                if time.monotonic() > deadline:
                    raise self.error("_TIMED_OUT", subject) from None
                pause = min(pause * 2, 0.05)
            except Exception as error:  # whatever the client raises is translated
                poll(0)
                self.check()
                raise self.error(error, subject) from error
            else:
                self.alive()
                return result


def open_producer(settings: Settings, *, verbose: bool = False) -> tuple[Any, Watch]:
    """A producer and the watch on its errors."""
    from confluent_kafka import Producer

    return _open(Producer, producer_config(settings, verbose=verbose), settings)


def open_consumer(
    settings: Settings, *, group: str | None = None, verbose: bool = False
) -> tuple[Any, Watch]:
    """A consumer and the watch on its errors."""
    from confluent_kafka import Consumer

    return _open(Consumer, consumer_config(settings, group=group, verbose=verbose), settings)


def admin_types() -> Any:
    """The client's admin module; untyped, because it re-exports its names only implicitly."""
    import confluent_kafka.admin

    return confluent_kafka.admin


def open_admin(settings: Settings, *, verbose: bool = False) -> tuple[Any, Watch]:
    """An admin client and the watch on its errors."""
    return _open(admin_types().AdminClient, client_config(settings, verbose=verbose), settings)


def _open(
    kind: Callable[[dict[str, Any]], Any], config: dict[str, Any], settings: Settings
) -> tuple[Any, Watch]:
    watch = Watch(settings)
    try:
        return kind({**config, "error_cb": watch}), watch
    except Exception as error:  # confluent_kafka raises KafkaException, TypeError and ValueError here
        raise watch.error(error) from error
