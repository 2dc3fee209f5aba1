"""The Kafka client's error codes, told as Tidemill's errors: what, where, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tidemill.errors import (
    AccessDenied,
    NotFound,
    TidemillError,
    Unreachable,
    UsageError,
    VerificationFailed,
)

# What librdkafka puts before its messages: sasl_ssl://broker:9093/bootstrap:
_ORIGIN = re.compile(r"^\S+/(bootstrap|\d+): ")


@dataclass(frozen=True)
class Subject:
    """What was being done to whom, so that an error can name it."""

    kind: str = "cluster"
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} `{self.name}`" if self.name else f"the {self.kind}"


class CoordinatorBusy(Unreachable):
    """The broker that keeps a group is not ready for it yet; asking again helps."""

    code = "COORDINATOR_BUSY"


class LeaderMoving(Unreachable):
    """A partition has no leader that all know of, as after a broker's start; asking again helps."""

    code = "LEADER_MOVING"


def translate(error: Any, *, where: str, subject: Subject | None = None, hint: str = "") -> TidemillError:
    """A Tidemill error for a `KafkaError` or `KafkaException`; `hint` is its last word on the connection."""
    code, text = _unwrap(error)
    subject = subject or Subject()
    tell = _TELL.get(code, _other)
    return tell(_Case(code=code, text=text.strip(), where=where, subject=subject, hint=hint.strip()))


def error_code(error: Any) -> str:
    """The name of a client error's code, such as `UNKNOWN_TOPIC_OR_PART`."""
    return _unwrap(error)[0]


@dataclass(frozen=True)
class _Case:
    code: str
    text: str
    where: str
    subject: Subject
    hint: str


def _unwrap(error: Any) -> tuple[str, str]:
    if isinstance(error, str):
        return error, ""
    inner = error.args[0] if isinstance(error, Exception) and error.args else error
    if hasattr(inner, "name") and hasattr(inner, "str"):
        return str(inner.name()), str(inner.str() or "")
    return "", str(error)


def _unreachable(case: _Case) -> TidemillError:
    if case.code == "_ALL_BROKERS_DOWN" and not case.hint:
        # A connection that fails is told in the hint; this one was made, and closed by the other side.
        return Unreachable("the broker closes every connection", where=case.where, remedy=_SECURITY)
    detail = _reason(case.hint or case.text)
    what = "no broker answered" + (f": {detail}" if detail else "")
    remedy = "start one with `tidemill dev up`, or name the right address with -b HOST:PORT"
    if "security.protocol" in case.hint or "SSL" in case.hint or "ApiVersion" in case.hint:
        remedy = _SECURITY
    return Unreachable(what, where=case.where, remedy=remedy)


_SECURITY = (
    "the listener may want TLS or SASL: set security.protocol (and sasl.*, ssl.*) with -X or --command-config"
)


def _reason(text: str) -> str:
    """The telling half of a librdkafka connection message."""
    for mark in ("Connect to ", "Failed to resolve "):
        if mark in text:
            text = mark + text.split(mark, 1)[1]
            break
    text = _ORIGIN.sub("", text)
    return text.split(" (after ", 1)[0].rstrip(". ")


def _resolve(case: _Case) -> TidemillError:
    return Unreachable(
        f"the host name is not known: {_reason(case.text)}",
        where=case.where,
        remedy="correct the address after -b",
    )


def _timed_out(case: _Case) -> TidemillError:
    if case.hint:
        return _unreachable(case)
    return Unreachable(
        f"the cluster did not answer in time about {case.subject}",
        where=case.where,
        remedy="look whether all brokers are up (`tidemill doctor`), then try again",
    )


def _authentication(case: _Case) -> TidemillError:
    return AccessDenied(
        f"the broker refused the login: {_login_reason(case.text)}",
        where=case.where,
        remedy="check sasl.mechanism, sasl.username and sasl.password"
        " (`tidemill config show` tells where each comes from)",
    )


def _login_reason(text: str) -> str:
    for mark in (
        "SASL authentication error: ",
        "SASL SCRAM authentication failed: ",
        "Authentication failed: ",
    ):
        if mark in text:
            text = text.split(mark, 1)[1]
    return _ORIGIN.sub("", text).split(" (after ", 1)[0].rstrip(". ") or "wrong user name or password"


def _tls(case: _Case) -> TidemillError:
    return AccessDenied(
        f"the TLS connection failed: {_reason(case.text)}",
        where=case.where,
        remedy="check ssl.ca.location (the CA of the broker's certificate) and the host name;"
        " for mutual TLS also ssl.certificate.location and ssl.key.location",
    )


def _denied(case: _Case) -> TidemillError:
    return AccessDenied(
        f"not authorised for {case.subject}",
        where=case.where,
        remedy="ask for an ACL that allows it, or log in as another user (-X sasl.username=... or --profile)",
    )


def _unknown_topic(case: _Case) -> TidemillError:
    name = case.subject.name
    return NotFound(
        f"{case.subject} does not exist",
        where=case.where,
        remedy=f"create it with `tidemill topics create {name}`, or look at `tidemill topics list`",
    )


def _unknown_group(case: _Case) -> TidemillError:
    return NotFound(
        f"{case.subject} does not exist", where=case.where, remedy="look at `tidemill groups list`"
    )


def _exists(case: _Case) -> TidemillError:
    return TidemillError(
        f"{case.subject} exists already",
        where=case.where,
        remedy="choose another name, or pass --if-not-exists",
    )


def _non_empty_group(case: _Case) -> TidemillError:
    return VerificationFailed(
        f"{case.subject} has running members", where=case.where, remedy="stop its consumers, then try again"
    )


def _invalid(remedy: str) -> Callable[[_Case], TidemillError]:
    def tell(case: _Case) -> TidemillError:
        return UsageError(f"{case.subject}: {case.text or case.code}", where=case.where, remedy=remedy)

    return tell


def _too_large(case: _Case) -> TidemillError:
    return TidemillError(
        f"a record is larger than {case.subject} takes: {case.text}",
        where=case.where,
        remedy="raise max.message.bytes of the topic and message.max.bytes of the producer (-X)",
    )


def _unsupported(case: _Case) -> TidemillError:
    return TidemillError(
        f"the broker is too old for this request: {case.text}",
        where=case.where,
        remedy="use Kafka 3.7 or newer",
    )


def _client_setting(case: _Case) -> TidemillError:
    return UsageError(
        f"the client refuses a setting: {case.text}",
        where=case.where,
        remedy="correct it in -X, --command-config or the profile"
        " (`tidemill config show` tells where it comes from)",
    )


def _coordinator(case: _Case) -> TidemillError:
    return CoordinatorBusy(
        f"the coordinator of the group is not ready: {case.text}",
        where=case.where,
        remedy="try again in a moment",
    )


def _leader(case: _Case) -> TidemillError:
    return LeaderMoving(
        f"{case.subject} has no leader yet that all brokers know of: {case.text}",
        where=case.where,
        remedy="try again in a moment",
    )


def _other(case: _Case) -> TidemillError:
    label = f" [{case.code}]" if case.code else ""
    return TidemillError(f"{case.subject}: {case.text}{label}", where=case.where)


_TELL: dict[str, Callable[[_Case], TidemillError]] = {
    "_TRANSPORT": _unreachable,
    "_ALL_BROKERS_DOWN": _unreachable,
    "_RESOLVE": _resolve,
    "_TIMED_OUT": _timed_out,
    "_TIMED_OUT_QUEUE": _timed_out,
    "_MSG_TIMED_OUT": _timed_out,
    "REQUEST_TIMED_OUT": _timed_out,
    "_AUTHENTICATION": _authentication,
    "SASL_AUTHENTICATION_FAILED": _authentication,
    "UNSUPPORTED_SASL_MECHANISM": _authentication,
    "_SSL": _tls,
    "TOPIC_AUTHORIZATION_FAILED": _denied,
    "GROUP_AUTHORIZATION_FAILED": _denied,
    "CLUSTER_AUTHORIZATION_FAILED": _denied,
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": _denied,
    "UNKNOWN_TOPIC_OR_PART": _unknown_topic,
    "_UNKNOWN_TOPIC": _unknown_topic,
    "_UNKNOWN_PARTITION": _invalid("look at `tidemill topics describe` for the partitions there are"),
    "GROUP_ID_NOT_FOUND": _unknown_group,
    "TOPIC_ALREADY_EXISTS": _exists,
    "NON_EMPTY_GROUP": _non_empty_group,
    "INVALID_PARTITIONS": _invalid("give a number of partitions above the present one, at least 1"),
    "INVALID_REPLICATION_FACTOR": _invalid(
        "use a replication factor of at least 1 and at most the number of brokers (`tidemill doctor`)"
    ),
    "INVALID_CONFIG": _invalid(
        "correct the -c name=value; `tidemill topics describe TOPIC --all` lists the names"
    ),
    "TOPIC_EXCEPTION": _invalid("use letters, digits, `.`, `_` and `-`, at most 249 of them"),
    "POLICY_VIOLATION": _invalid("the cluster's policy forbids it: ask its operator"),
    "NOT_LEADER_FOR_PARTITION": _leader,
    "LEADER_NOT_AVAILABLE": _leader,
    "FENCED_LEADER_EPOCH": _leader,
    "UNKNOWN_LEADER_EPOCH": _leader,
    "COORDINATOR_LOAD_IN_PROGRESS": _coordinator,
    "COORDINATOR_NOT_AVAILABLE": _coordinator,
    "NOT_COORDINATOR": _coordinator,
    "MSG_SIZE_TOO_LARGE": _too_large,
    "UNSUPPORTED_VERSION": _unsupported,
    "_UNSUPPORTED_FEATURE": _unsupported,
    "_INVALID_ARG": _client_setting,
}
