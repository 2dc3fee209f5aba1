"""What happens to a record that cannot be read, processed or written: one word for each of the three."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tidemill.errors import UsageError


class Outcome(StrEnum):
    """What a handler does with a record."""

    FAIL = "fail"
    """The query fails, and tells which record it was."""
    CONTINUE = "continue"
    """The record is left out, told in the log and counted."""
    DEAD_LETTER = "dead_letter"
    """The record is set aside in a topic of its own, with the reason in its headers."""


DESERIALIZATION = "deserialization"
PROCESSING = "processing"
PRODUCTION = "production"
KINDS = (DESERIALIZATION, PROCESSING, PRODUCTION)
"""What can go wrong with a record: reading its bytes, the user's functions, writing a result."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """The outcome of each kind of failure, and the topic of dead letters."""

    deserialization: Outcome = Outcome.FAIL
    processing: Outcome = Outcome.FAIL
    production: Outcome = Outcome.FAIL
    topic: str = ""
    application_id: str = ""

    def outcome(self, kind: str) -> Outcome:
        """What becomes of a record with this kind of failure."""
        outcome: Outcome = getattr(self, kind)
        return outcome

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of every kind."""
        return {kind: self.outcome(kind) for kind in KINDS}

    @property
    def are_needed(self) -> bool:
        """Whether any failure is not the end of the query."""
        return any(outcome is not Outcome.FAIL for outcome in self.outcomes.values())

    @property
    def write_letters(self) -> bool:
        """Whether there are dead letters."""
        return Outcome.DEAD_LETTER in self.outcomes.values()

    @property
    def record_by_record(self) -> bool:
        """Whether a record must be able to fail alone while it is processed or encoded."""
        return {self.processing, self.production} != {Outcome.FAIL}

    @property
    def keep_sources(self) -> bool:
        """Whether a source record goes along with what is made of it: it may become a letter."""
        return Outcome.DEAD_LETTER in (self.processing, self.production)


def outcome_of(text: str) -> Outcome:
    """The outcome a setting names, by our word or by the class Kafka Streams has for it.

    >>> outcome_of("dead_letter"), outcome_of("org.apache.kafka.streams.errors.LogAndFailExceptionHandler")
    (<Outcome.DEAD_LETTER: 'dead_letter'>, <Outcome.FAIL: 'fail'>)
    """
    known = _CLASSES.get(text.rpartition(".")[2], text)
    if known not in list(Outcome):
        raise ValueError(f"{', '.join(Outcome)}; handlers of your own are not called")
    return Outcome(known)


def handlers_of(application_id: str, config: Mapping[str, str]) -> Handlers:
    """The handlers that settings with Kafka Streams' names ask for."""
    chosen = {}
    for kind in KINDS:
        key = handler_key(kind)
        if key in config:
            try:
                chosen[kind] = outcome_of(config[key])
            except ValueError as error:
                raise UsageError(f"`{config[key]}` is not a value of `{key}`", remedy=str(error)) from error
    topic = config.get(TOPIC_KEY, f"{application_id}-dlq")
    handlers = Handlers(**chosen, topic=topic, application_id=application_id)
    if TOPIC_KEY in config and not handlers.write_letters:
        raise UsageError(
            f"`{TOPIC_KEY}` is set, but no handler writes dead letters",
            remedy=f"set {', '.join(map(handler_key, KINDS))}, or those of them you mean, to dead_letter",
        )
    return handlers


def handler_key(kind: str) -> str:
    """The setting of a kind of failure."""
    return f"{kind}.exception.handler"


TOPIC_KEY: Final = "errors.dead.letter.queue.topic.name"

_CLASSES: Final = {
    "LogAndFailExceptionHandler": "fail",
    "LogAndContinueExceptionHandler": "continue",
    "LogAndFailProcessingExceptionHandler": "fail",
    "LogAndContinueProcessingExceptionHandler": "continue",
    "DefaultProductionExceptionHandler": "fail",
}
