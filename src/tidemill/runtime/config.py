"""The configuration of an app: one table of keys, and the values after all layers have spoken."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from tidemill.engine.copartitioning import CoPartitioning
from tidemill.engine.handlers import KINDS, TOPIC_KEY, Handlers, handler_key, handlers_of, outcome_of
from tidemill.errors import UsageError
from tidemill.kafka.paths import data_dir
from tidemill.kafka.settings import Setting, Settings
from tidemill.runtime.streams_config import STREAMS_KEYS, Fate, streams_key
from tidemill.time import milliseconds
from tidemill.topology.nodes.source import OffsetReset, ResetPolicy


class Guarantee(StrEnum):
    """How often a record of the input counts in the output."""

    EXACTLY_ONCE = "exactly_once_v2"
    AT_LEAST_ONCE = "at_least_once"


class Latency(StrEnum):
    """Batches of many records, or records one by one."""

    THROUGHPUT = "throughput"
    REALTIME = "realtime"


class MissingCheckpoint(StrEnum):
    """What to do where the app's group has offsets in Kafka but its state directory is empty."""

    FAIL = "fail"
    GROUP = "group"
    RESET = "reset"


class MissingMarkers(StrEnum):
    """What to do where a batch was begun, and Kafka has forgotten which parts of it were written."""

    FAIL = "fail"
    REPLAY = "replay"


class OffsetsLost(StrEnum):
    """What to do about records that are gone from Kafka before they were read."""

    FAIL = "fail"
    EARLIEST = "earliest"
    LATEST = "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppConfig:
    """What an app runs with. Printing it shows no secret."""

    application_id: str
    guarantee: Guarantee = Guarantee.EXACTLY_ONCE
    latency: Latency = Latency.THROUGHPUT
    commit_interval_ms: int = 100
    realtime_batch_ms: int = 60_000
    caching: bool = True
    master: str = "local[*]"
    tasks: int | None = None
    state_dir: str | None = None
    max_offsets_per_trigger: int | None = 500_000
    batch_target_ms: int = 5000
    auto_create_topics: bool = True
    replication_factor: int = -1
    restart_limit: int = 5
    restart_backoff_ms: int = 500
    metrics_port: int | None = None
    metrics_host: str = "127.0.0.1"
    missing_checkpoint: MissingCheckpoint = MissingCheckpoint.FAIL
    missing_markers: MissingMarkers = MissingMarkers.FAIL
    offsets_lost: OffsetsLost = OffsetsLost.FAIL
    co_partitioning: CoPartitioning = CoPartitioning.CHECKED
    explicit_names: bool = False
    handlers: Handlers = field(default_factory=Handlers)
    offset_reset: OffsetReset = field(default_factory=lambda: OffsetReset(ResetPolicy.EARLIEST))
    spark: Mapping[str, str] = field(default_factory=dict, repr=False)
    settings: Settings = field(default_factory=Settings)

    @property
    def exactly_once(self) -> bool:
        """Whether output is written in transactions."""
        return self.guarantee is Guarantee.EXACTLY_ONCE

    @property
    def folder(self) -> Path:
        """The app's own folder on this machine."""
        if self.state_dir is None or not self._is_local:
            return data_dir() / "apps" / self.application_id
        return Path(urlsplit(self.state_dir).path).expanduser().absolute() / self.application_id

    @property
    def checkpoint(self) -> str:
        """Where Spark keeps offsets and state: a path, or a URI that all workers reach."""
        if self._is_local:
            return str(self.folder / "checkpoint")
        return f"{str(self.state_dir).rstrip('/')}/{self.application_id}/checkpoint"

    @property
    def _is_local(self) -> bool:
        return urlsplit(self.state_dir or "").scheme in ("", "file")

    def consumer_client(self) -> dict[str, str]:
        """Settings of the Java consumer. Holds secrets."""
        return self._client("consumer.", "main.consumer.")

    def producer_client(self) -> dict[str, str]:
        """Settings of the Java producer. Holds secrets."""
        # Records that wait for nobody leave one by one, and one alone is not smaller when it is compressed.
        usual = {"linger.ms": "0", "compression.type": "none"} if self.latency is Latency.REALTIME else {}
        return {**usual, **self._client("producer.")}

    def admin_settings(self) -> Settings:
        """Settings of our own admin client."""
        return _without_prefixes(self.settings, "admin.")

    def _client(self, *prefixes: str) -> dict[str, str]:
        client = _without_prefixes(self.settings, *prefixes).java()
        client.setdefault("client.id", self.application_id)
        return client


def parse_config(application_id: str, values: Settings) -> AppConfig:
    """The configuration a set of values makes; a key nobody knows is refused."""
    if not _ID.fullmatch(application_id) or application_id in (".", ".."):
        raise UsageError(
            f"`{application_id}` is not an application id",
            remedy="use letters, digits, `.`, `_` and `-`, at most 200 of them",
        )
    own: dict[str, object] = {}
    handlers: dict[str, str] = {}
    spark: dict[str, str] = {}
    client: list[Setting] = []
    for entry in values.entries():
        if entry.name in _KEYS:
            name, parse = _KEYS[entry.name]
            own[name] = _parsed(entry, parse)
        elif entry.name in _HANDLERS:
            _parsed(entry, _HANDLERS[entry.name])
            handlers[entry.name] = entry.raw.strip()
        elif entry.name.startswith("spark."):
            spark[entry.name] = entry.raw
        else:
            _check_other(entry)
            if not _is_ignored(entry.name):
                client.append(entry)
    own["handlers"] = handlers_of(application_id, handlers)
    config = AppConfig(application_id=application_id, **own, spark=spark, settings=Settings(client))  # type: ignore[arg-type]
    if config.latency is Latency.REALTIME and config.exactly_once:
        if "guarantee" in own:
            raise UsageError(
                "latency=realtime writes at least once, exactly_once_v2 was asked for",
                where=values.entries()[0].source,
                remedy="set processing.guarantee=at_least_once, or leave latency at throughput",
            )
        return parse_config(
            application_id, Settings.of({"processing.guarantee": "at_least_once"}).over(values)
        )
    return config


def _without_prefixes(settings: Settings, *prefixes: str) -> Settings:
    """Settings of one client: its own prefix wins over the plain name, other clients' are left out."""
    plain = [entry for entry in settings.entries() if not _CLIENT_PREFIX.match(entry.name)]
    special = [
        Setting(entry.name.removeprefix(prefix), entry.raw, entry.source)
        for prefix in prefixes
        for entry in settings.entries()
        if entry.name.startswith(prefix)
    ]
    return Settings([*plain, *special])


def _parsed(entry: Setting, parse: Callable[[str], object]) -> object:
    try:
        return parse(entry.raw.strip())
    except ValueError as error:
        raise UsageError(
            f"`{entry.raw}` is not a value of `{entry.name}`: {error}", where=entry.source
        ) from error


def _check_other(entry: Setting) -> None:
    known = streams_key(entry.name)
    if known is not None and known.fate is Fate.REFUSED:
        raise UsageError(f"`{entry.name}` is not supported", where=entry.source, remedy=known.note)
    if known is None and not _CLIENT.fullmatch(entry.name):
        names = [*_KEYS, *_HANDLERS, *(key.name for key in STREAMS_KEYS)]
        near = difflib.get_close_matches(entry.name, names, n=1)
        raise UsageError(
            f"there is no setting `{entry.name}`",
            where=entry.source,
            remedy=f"did you mean `{near[0]}`?" if near else "see the table of settings in the documentation",
        )


def _is_ignored(name: str) -> bool:
    known = streams_key(name)
    return known is not None and known.fate is Fate.NOT_NEEDED


def is_known(name: str) -> bool:
    """Whether a key means anything to an app."""
    return (
        name in _KEYS
        or name in _HANDLERS
        or streams_key(name) is not None
        or _CLIENT.fullmatch(name) is not None
    )


def _number(low: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if number < low:
            raise ValueError(f"at least {low}")
        return number

    return parse


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("true or false")
    return text.lower() == "true"


def _choice(kind: type[StrEnum]) -> Callable[[str], StrEnum]:
    def parse(text: str) -> StrEnum:
        if text not in list(kind):
            raise ValueError(" or ".join(kind))
        return kind(text)

    return parse


def _reset(text: str) -> OffsetReset:
    policy, _, duration = text.partition(":")
    if policy == ResetPolicy.BY_DURATION and duration:
        return OffsetReset(ResetPolicy.BY_DURATION, milliseconds(duration, what="the reset duration"))
    if text not in (ResetPolicy.EARLIEST, ResetPolicy.LATEST, ResetPolicy.NONE):
        raise ValueError("earliest, latest, none or by_duration:PT1H")
    return OffsetReset(ResetPolicy(text))


def _limit(text: str) -> int | None:
    return None if text in ("none", "0") else _number(1)(text)


def _port(text: str) -> int | None:
    port = None if text in ("none", "off") else _number(0)(text)
    if port is not None and port > 65535:
        raise ValueError("at most 65535")
    return port


def _threads(text: str) -> str:
    return f"local[{_number(1)(text)}]"


def _cache(text: str) -> bool:
    return _number(0)(text) > 0


_KEYS: dict[str, tuple[str, Callable[[str], object]]] = {
    "processing.guarantee": ("guarantee", _choice(Guarantee)),
    "latency": ("latency", _choice(Latency)),
    "commit.interval.ms": ("commit_interval_ms", _number(0)),
    "realtime.batch.ms": ("realtime_batch_ms", _number(5000)),
    "statestore.cache.max.bytes": ("caching", _cache),
    "cache.max.bytes.buffering": ("caching", _cache),
    "num.stream.threads": ("master", _threads),
    "master": ("master", str),
    "tasks": ("tasks", _number(1)),
    "state.dir": ("state_dir", str),
    "max.offsets.per.trigger": ("max_offsets_per_trigger", _limit),
    "batch.target.ms": ("batch_target_ms", _number(100)),
    "auto.create.topics": ("auto_create_topics", _flag),
    "replication.factor": ("replication_factor", _number(-1)),
    "restart.limit": ("restart_limit", _number(0)),
    "restart.backoff.ms": ("restart_backoff_ms", _number(0)),
    "metrics.port": ("metrics_port", _port),
    "metrics.host": ("metrics_host", str),
    "missing.checkpoint": ("missing_checkpoint", _choice(MissingCheckpoint)),
    "ensure.explicit.internal.resource.naming": ("explicit_names", _flag),
    "missing.markers": ("missing_markers", _choice(MissingMarkers)),
    "co.partitioning": ("co_partitioning", _choice(CoPartitioning)),
    "offsets.lost": ("offsets_lost", _choice(OffsetsLost)),
    "auto.offset.reset": ("offset_reset", _reset),
}
"""Keys of ours, the field each one fills and how its text is read."""


def _topic(text: str) -> str:
    if not _TOPIC.fullmatch(text):
        raise ValueError("a topic's name has letters, digits, `.`, `_` and `-`, at most 249 of them")
    return text


def _never(text: str) -> bool:
    if _flag(text):
        raise ValueError("false: what keeps a global store fails the app, for it would be wrong everywhere")
    return False


_HANDLERS: dict[str, Callable[[str], object]] = {
    **{handler_key(kind): outcome_of for kind in KINDS},
    TOPIC_KEY: _topic,
    "processing.exception.handler.global.enabled": _never,
}
"""Keys of handlers, and how their text is checked."""

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")

KEYS = (*_KEYS, *_HANDLERS)
"""The names of all settings of ours."""

_ID = re.compile(r"[A-Za-z0-9._-]{1,200}")
_CLIENT_PREFIX = re.compile(r"(main\.consumer|consumer|producer|admin)\.")
_CLIENT = re.compile(
    r"(main\.consumer|consumer|producer|admin|ssl|sasl|security|reconnect|retry|metadata|socket|fetch|client)\..+"
    r"|bootstrap\.servers|acks|linger\.ms|batch\.size|compression\.type|max\.request\.size|buffer\.memory"
    r"|delivery\.timeout\.ms|transaction\.timeout\.ms|max\.block\.ms|max\.poll\.records|default\.api\.timeout\.ms|session\.timeout\.ms|heartbeat\.interval\.ms"
)
