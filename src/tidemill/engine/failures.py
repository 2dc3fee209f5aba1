"""What a failed query says, told as Tidemill's errors: the cause under Spark's wrappings, and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tidemill.errors import AccessDenied, NotFound, TidemillError, Unreachable


class QueryError(TidemillError):
    """A batch failed for a reason of its own: a function, a value, a worker."""

    code = "QUERY_FAILED"


class OffsetsLostError(TidemillError):
    """Records the app has not read yet are gone from Kafka."""

    code = "OFFSETS_LOST"


class FencedError(TidemillError):
    """Another instance writes under this application id."""

    code = "FENCED"


class ClaimLostError(TidemillError):
    """Kafka has not heard of this instance for so long that it takes it for dead."""

    code = "CLAIM_LOST"


class TransactionEndedError(TidemillError):
    """Kafka ended a transaction by itself, for one that took too long."""

    code = "TRANSACTION_ENDED"


class RecordsSkippedError(TidemillError):
    """Records that were not read yet are gone, and the app goes on without them."""

    code = "OFFSETS_LOST"


class PartitionsAddedError(TidemillError):
    """A topic has more partitions than the plan of the query knows."""

    code = "PARTITIONS_ADDED"


class KeysMisplacedError(TidemillError):
    """A topic that meets another one has a key in another partition than Kafka's own partitioner chooses."""

    code = "KEYS_MISPLACED"


class LayoutChangedError(TidemillError):
    """A batch was partly written when its records were placed in another way than now."""

    code = "LAYOUT_CHANGED"


class ProductionError(TidemillError):
    """A record could not be written, and trying again would not help."""

    code = "PRODUCTION"


class ProcessorError(TidemillError):
    """A user's processor or function of Python values raised an exception."""

    code = "PROCESSOR"


class DeserializationError(TidemillError):
    """The bytes of a record are not what the serde reads."""

    code = "DESERIALIZATION"


class ProcessingError(TidemillError):
    """A user's function failed for one record."""

    code = "PROCESSING"


class DiskFullError(TidemillError):
    """A file could not be written for want of space."""

    code = "DISK_FULL"


class EngineGoneError(TidemillError):
    """The JVM that runs Spark has ended."""

    code = "ENGINE_GONE"


class StateFormatError(TidemillError):
    """State that was written in one mode cannot be used in the other."""

    code = "STATE_FORMAT"


LASTING = (
    OffsetsLostError,
    DeserializationError,
    FencedError,
    LayoutChangedError,
    ProductionError,
    EngineGoneError,
    StateFormatError,
    AccessDenied,
    NotFound,
)
"""Errors that a restart of the query does not cure."""


def query_failure(error: Any) -> TidemillError:
    """A Tidemill error for what PySpark raised, or for a Java exception of a query."""
    if isinstance(error, TidemillError):
        return error
    if is_gone(error):
        return EngineGoneError(
            "the Java process that runs Spark has ended",
            remedy="look at the end of its log file; start the app again, nothing is lost",
        )
    causes = list(_causes(error))
    text = "\n".join(f"{name}: {message}" for name, message in causes)
    for pattern, tell in _TELL:
        if match := pattern.search(text):
            return tell(match)
    return QueryError(_root(causes), remedy="the log file of the app has the whole story")


def exception_of(jvm: Any, query: Any) -> Any | None:
    """The Java exception a query has ended with; not that of a task that only missed the one that failed."""
    found = query.exception()
    if not found.isDefined():
        return None
    error = found.get()
    if any(_OF_THE_SHUFFLE in message for _, message in _causes(error)):
        return jvm.io.tidemill.problem.FirstFailure.of(query.runId().toString()) or error
    return error


def is_gone(error: Any) -> bool:
    """Whether an exception says that nobody is at the other end of the gateway."""
    return isinstance(error, ConnectionError) or type(error).__name__ == "Py4JNetworkError"


def _causes(error: Any) -> Iterator[tuple[str, str]]:
    """Class and message of an exception and all below it, outermost first."""
    java = error
    if isinstance(error, BaseException):
        yield type(error).__name__, str(error)
        java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    for _ in range(20):
        if java is None:
            return
        yield str(java.getClass().getName()), str(java.getMessage())
        java = java.getCause()


def _root(causes: list[tuple[str, str]]) -> str:
    # What a worker threw is quoted, with its whole trace, in the text of the driver's own exception.
    for _, message in causes:
        if quoted := _LOST_TASK.search(message):
            return quoted[1].strip()
    name, message = causes[-1]
    first = message.strip().splitlines()[0] if message.strip() else ""
    return first or name.rpartition(".")[2]


_OF_THE_SHUFFLE = "Connection to streaming shuffle writer"
_LOST_TASK = re.compile(r"Lost task [^\n]*?\(executor [^)]*\): (?:[\w.$]+: )?([^\n]+)")


def _sink(match: re.Match[str]) -> TidemillError:
    code, text = match[1], match[2].strip()
    match code:
        case "UNKNOWN_TOPIC":
            topic = _quoted(text)
            return NotFound(text, remedy=f"create it with `tidemill topics create {topic}`")
        case "DENIED":
            return AccessDenied(text, remedy=_allow(text))
        case "FENCED":
            return FencedError(text, remedy="run one instance per application id")
        case "CLAIM_LOST":
            return ClaimLostError(text, remedy="the app asks for its place again by itself")
        case "LAYOUT":
            return LayoutChangedError(
                text,
                remedy="records of some tasks would be lost in between: reset the app, or set co.partitioning"
                " to what it was; `trusted` goes on as Kafka Streams does",
            )
        case "UNREACHABLE":
            return Unreachable(text, remedy="look whether all brokers are up (`tidemill doctor`)")
        case "TOO_LARGE":
            return ProductionError(
                text, remedy="raise max.message.bytes of the topic and producer.max.request.size of the app"
            )
        case "NO_TOPIC" | "BAD_TIMESTAMP":
            return ProductionError(text, remedy="correct the topology")
        case _:
            return QueryError(text, remedy="the log file of the app has the whole story")


def _allow(text: str) -> str:
    """What to ask the operator of a cluster for."""
    if "refused the login" in text:
        return "check sasl.mechanism, sasl.username and sasl.password"
    name = _quoted(text)
    if "transactional id" in text:
        return f"allow WRITE and DESCRIBE on transactional id `{name}`, best on all with this beginning"
    if "group" in text:
        return f"allow READ on group `{name}`"
    if "read" in text:
        return f"allow READ and DESCRIBE on topic `{name}`"
    return f"allow WRITE and DESCRIBE on topic `{name}`"


def _source(match: re.Match[str]) -> TidemillError:
    code, text = match[1], match[2].strip()
    match code:
        case "OFFSETS_LOST":
            return _lost_records(text)
        case "PARTITIONS_ADDED":
            return PartitionsAddedError(text, remedy="the app plans anew by itself")
        case "KEYS_MISPLACED":
            return KeysMisplacedError(
                text,
                remedy="whoever writes the topic chooses partitions in another way than Kafka's own clients"
                " (librdkafka: partitioner=murmur2_random); co.partitioning=shuffle brings records together"
                " by key, =trusted leaves them where they are",
            )
        case "DENIED":
            return AccessDenied(f"not authorised to read: {text}", remedy=_allow(text))
        case _:
            return QueryError(text, remedy="the log file of the app has the whole story")


def _lost(match: re.Match[str]) -> TidemillError:
    reason = match["reason"] if "reason" in match.groupdict() and match["reason"] else match[0]
    return _lost_records(reason.strip().splitlines()[0])


def _lost_records(reason: str) -> TidemillError:
    return OffsetsLostError(
        f"records that were not read yet are gone from Kafka: {reason}",
        remedy="keep records (retention.ms) longer than the app may be down; offsets.lost=earliest or latest"
        " goes on without them, a reset begins anew",
    )


def _out_of_range(match: re.Match[str]) -> TidemillError:
    return _lost_records(f"{match['reason']} is {match['rest']}")


def _unknown(match: re.Match[str]) -> TidemillError:
    return NotFound(f"a topic does not exist: {match[1].strip()}", remedy="look at `tidemill topics list`")


def _login(match: re.Match[str]) -> TidemillError:
    return AccessDenied(
        f"the broker refused the login: {match[1].strip()}",
        remedy="check sasl.mechanism, sasl.username and sasl.password",
    )


def _denied(match: re.Match[str]) -> TidemillError:
    kind, said = match[1], match[2].strip()
    name = said.rpartition(":")[2].strip(" []")
    if kind == "Topic":
        text = f"not authorised to read topic `{name}`"
    elif kind == "Group":
        text = f"not authorised to use group `{name}`"
    else:
        return AccessDenied(
            f"not authorised: {said}", remedy="ask for ACLs that allow it, or log in as another user"
        )
    return AccessDenied(text, remedy=_allow(text))


def _timeout(match: re.Match[str]) -> TidemillError:
    return Unreachable(
        f"Kafka did not answer in time: {match[1].strip()}",
        remedy="look whether all brokers are up (`tidemill doctor`)",
    )


def _record(match: re.Match[str]) -> TidemillError:
    told = json.loads(match[1])
    if told["kind"] == "deserialization":
        return DeserializationError(
            f"`{told['node']}` cannot read{_about(told)[4:]}: {told['message']}",
            where=told["place"] or None,
            remedy="correct the serde or the producer; deserialization.exception.handler=continue leaves such"
            " records out, =dead_letter sets them aside",
        )
    kind = told["error"].rpartition(".")[2]
    return ProcessingError(
        f"`{told['node']}` failed{_about(told)}: {_plain(told['message'])} ({kind})",
        where=told["place"],
        remedy=f"correct the function; {_HANDLERS}",
    )


def _plain(message: str) -> str:
    """A message of Spark without its class in front and its state behind."""
    return re.sub(r"\s*SQLSTATE: \w+$", "", message)


def _taken_over(_match: re.Match[str]) -> TidemillError:
    return FencedError(
        "another instance of this application works on the same checkpoint",
        remedy="run one instance per application id",
    )


def _disk_full(_match: re.Match[str]) -> TidemillError:
    return DiskFullError(
        "no space is left for the app's state or Spark's temporary files",
        remedy="make space on the disks of state.dir and spark.local.dir; the app goes on where it was",
    )


def _processor(match: re.Match[str]) -> TidemillError:
    told = json.loads(match[1])
    return ProcessorError(
        f"`{told['node']}` failed{_about(told)}: {told['error']}",
        where=told["place"],
        remedy=f"correct the function, or let it catch what may go wrong; {_HANDLERS}",
    )


def _about(told: dict[str, Any]) -> str:
    if told["topic"] is None:
        return ""
    return f" for the record at {told['topic']}, partition {told['partition']}, offset {told['offset']}"


_HANDLERS = "processing.exception.handler=continue leaves such records out, =dead_letter sets them aside"


def _state_format(_match: re.Match[str]) -> TidemillError:
    return StateFormatError(
        "the state of this app was written in the other mode of latency, and is of no use in this one",
        remedy="run it with `latency` as before, use another application id, or reset the app",
    )


def _quoted(text: str) -> str:
    found = re.search(r"`([^`]+)`", text)
    return found[1] if found else "TOPIC"


_KAFKA = r"org\.apache\.kafka\.common\.errors\."
_TELL = (
    (re.compile(r"tidemill\.engine\.python\.failure\.ProcessingError: (\{[^\n]+\})"), _processor),
    (re.compile(r"io\.tidemill\.problem\.RecordFailure: (\{[^\n]+\})"), _record),
    (re.compile(r"io\.tidemill\.sink\.SinkError: \[(\w+)\] ([^\n]+)"), _sink),
    (re.compile(r"io\.tidemill\.source\.SourceError: \[(\w+)\] ([^\n]+)"), _source),
    (re.compile(r"CONCURRENT_STREAM_LOG_UPDATE|Concurrent update to the (?:commit )?log"), _taken_over),
    (re.compile(r"No space left on device"), _disk_full),
    (re.compile(r"STREAMING_REAL_TIME_MODE\.CHECKPOINT_FORMAT_V1_NOT_SUPPORTED"), _state_format),
    (re.compile(r"STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"), _state_format),
    (re.compile(r"KAFKA_DATA_LOSS[\s\S]*?Reason:\s*(?P<reason>[^\n]+)"), _lost),
    (
        re.compile(r"FetchPosition\{(?P<reason>offset=\d+)[^\n]* is (?P<rest>out of range[^,\n]*)"),
        _out_of_range,
    ),
    (re.compile(r"(?:OffsetOutOfRange|NoOffsetForPartition)Exception[^\n]*"), _lost),
    (re.compile(r"START_OFFSET_GREATER_THAN_END_OFFSET[^\n]*"), _lost),
    (re.compile(rf"{_KAFKA}UnknownTopicOrPartitionException: ([^\n]+)"), _unknown),
    (re.compile(rf"{_KAFKA}(?:Sasl|Ssl)AuthenticationException: ([^\n]+)"), _login),
    (re.compile(rf"{_KAFKA}(\w*)AuthorizationException: ([^\n]+)"), _denied),
    (re.compile(rf"{_KAFKA}TimeoutException: ([^\n]+)"), _timeout),
)
"""What is looked for in the texts of all causes, the most telling first."""
