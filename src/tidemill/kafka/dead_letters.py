"""Dead letters: records that an app could not process, why, and the way back to where they came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tidemill.errors import NotFound, TidemillError
from tidemill.kafka.admin import Admin
from tidemill.kafka.clients import Watch, open_consumer, open_producer
from tidemill.kafka.errors import Subject
from tidemill.kafka.offsets import Range
from tidemill.kafka.reader import Reading, read
from tidemill.kafka.records import Headers, Record, decode
from tidemill.kafka.settings import Settings

PREFIX: Final = "__streams.errors."
KIND: Final = f"{PREFIX}kind"
APPLICATION: Final = f"{PREFIX}application.id"
NODE: Final = f"{PREFIX}node"
EXCEPTION: Final = f"{PREFIX}exception"
MESSAGE: Final = f"{PREFIX}message"
STACKTRACE: Final = f"{PREFIX}stacktrace"
TOPIC: Final = f"{PREFIX}topic"
PARTITION: Final = f"{PREFIX}partition"
OFFSET: Final = f"{PREFIX}offset"
TIMESTAMP: Final = f"{PREFIX}timestamp"
LEFT_OUT: Final = f"{PREFIX}value.left.out"
SUFFIX: Final = "-dlq"
"""What the default name of a topic of dead letters ends with."""

_TRANSACTION = 500
_SECONDS = 30.0
_LONGEST_NOTE = 4000


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter; what its headers do not tell is empty."""

    record: Record

    @property
    def place(self) -> tuple[int, int]:
        """Where it is in its own topic."""
        return self.record.partition, self.record.offset

    def told(self, name: str) -> str:
        """A header of the reason."""
        found = [value for key, value in self.record.headers if key == name]
        return decode(found[-1]) if found else ""

    @property
    def headers(self) -> Headers:
        """The headers the record had before it failed."""
        return [(name, value) for name, value in self.record.headers if not name.startswith(PREFIX)]

    @property
    def is_whole(self) -> bool:
        """Whether the record can be sent again: it came from a topic, and all of it is here."""
        return bool(self.told(TOPIC)) and not self.told(LEFT_OUT)

    def again(self) -> Record:
        """The record as it was before it failed."""
        partition = self.told(PARTITION)
        return Record(
            value=self.record.value,
            key=self.record.key,
            headers=self.headers,
            timestamp=self.record.timestamp,
            topic=self.told(TOPIC),
            partition=int(partition) if partition else -1,
        )


def topic_of(admin: Admin, name: str) -> str:
    """The topic of dead letters that a name means: a topic, or an app that has one of the usual name."""
    for topic in (name, f"{name}{SUFFIX}"):
        if admin.exists(topic):
            return topic
    raise NotFound(
        f"there is no topic `{name}` and no `{name}{SUFFIX}`",
        where=admin.watch.where,
        remedy="name the topic of dead letters, or the app; `tidemill dlq list` shows what there is",
    )


def letters(settings: Settings, topic: str) -> Iterator[Letter]:
    """All dead letters of a topic, as it is now."""
    reading = Reading(topics=[topic], start=Range("beginning"), stop_at_end=True)
    settings = Settings.of({"isolation.level": "read_committed"}, source="dlq").over(settings)
    for record in read(reading, settings):
        yield Letter(record)


class Replay:
    """Sends dead letters back, each at most once.

    What was sent is noted in a consumer group of its own, in the same transaction that sends it: the offset
    of a partition is the first letter that was not sent, its metadata has the ones sent behind it.
    """

    def __init__(self, settings: Settings, topic: str) -> None:
        self._topic = topic
        self._settings = settings
        self._admin = Admin(settings)

    @property
    def group(self) -> str:
        """The group that notes what was sent."""
        return f"{self._topic}-replay"

    def sent(self) -> Sent:
        """The letters sent so far."""
        consumer, watch = self._consumer()
        try:
            return self._read(consumer, watch)
        finally:
            consumer.close()

    def send(self, chosen: Callable[[Letter], bool]) -> list[Letter]:
        """Send all letters that are chosen, whole and not yet sent; returns them."""
        own = {"transactional.id": self.group, "transaction.timeout.ms": "60000"}
        settings = Settings.of(own, source="dlq").over(self._settings)
        producer, watch = open_producer(settings)
        consumer, _ = self._consumer()
        done: list[Letter] = []
        try:
            # Ends what another replay left open, and fences it, before what was sent is asked for.
            _call(watch, lambda: producer.init_transactions(_SECONDS))
            sent = self._read(consumer, watch)
            waiting = [
                letter
                for letter in letters(self._settings, self._topic)
                if chosen(letter) and letter.is_whole and letter.place not in sent
            ]
            self._check_topics(waiting)
            for start in range(0, len(waiting), _TRANSACTION):
                part = waiting[start : start + _TRANSACTION]
                sent = sent.and_these(letter.place for letter in part)
                self._transaction(producer, consumer, watch, part, sent)
                done += part
        finally:
            consumer.close()
        return done

    def _check_topics(self, waiting: Iterable[Letter]) -> None:
        for topic in dict.fromkeys(letter.told(TOPIC) for letter in waiting):
            if not self._admin.exists(topic):
                raise NotFound(
                    f"topic `{topic}` does not exist; letters came from it",
                    where=self._admin.watch.where,
                    remedy=f"create it with `tidemill topics create {topic}`, or leave its letters out"
                    " with --from",
                )

    def _transaction(
        self, producer: Any, consumer: Any, watch: Watch, part: Sequence[Letter], sent: Sent
    ) -> None:
        from confluent_kafka import TopicPartition

        failures: list[tuple[Any, str]] = []
        _call(watch, producer.begin_transaction)
        try:
            for letter in part:
                _produce(producer, watch, letter.again(), failures)
            if producer.flush(_SECONDS) or failures:
                error, topic = failures[0] if failures else ("_TIMED_OUT", self._topic)
                raise watch.error(error, Subject("topic", topic))
            touched = {letter.record.partition for letter in part}
            offsets = [
                TopicPartition(self._topic, partition, offset, note)
                for partition, (offset, note) in sent.notes().items()
                if partition in touched
            ]
            _call(
                watch,
                lambda: producer.send_offsets_to_transaction(
                    offsets, consumer.consumer_group_metadata(), _SECONDS
                ),
            )
        except TidemillError:
            _call(watch, lambda: producer.abort_transaction(_SECONDS))
            raise
        _call(watch, lambda: producer.commit_transaction(_SECONDS))

    def _consumer(self) -> tuple[Any, Watch]:
        settings = Settings.of({"isolation.level": "read_committed"}, source="dlq").over(self._settings)
        return open_consumer(settings, group=self.group)

    def _read(self, consumer: Any, watch: Watch) -> Sent:
        from confluent_kafka import TopicPartition

        partitions = [part.id for part in self._admin.topic(self._topic).partitions]
        asked = [TopicPartition(self._topic, part) for part in partitions]
        found = _call(watch, lambda: consumer.committed(asked, timeout=_SECONDS))
        return Sent.of({part.partition: (part.offset, part.metadata or "") for part in found})


@dataclass(frozen=True, slots=True)
class Sent:
    """Offsets of letters that were sent, by partition.

    >>> sent = Sent({}).and_these([(0, 0), (0, 1), (0, 5), (0, 6), (1, 3)])
    >>> sent.notes()
    {0: (2, '5-6'), 1: (0, '3')}
    >>> (0, 6) in Sent.of(sent.notes()), (0, 4) in Sent.of(sent.notes())
    (True, False)
    """

    offsets: dict[int, frozenset[int]]
    below: dict[int, int] | None = None
    """Partitions of which everything below an offset was sent."""

    @classmethod
    def of(cls, notes: dict[int, tuple[int, str]]) -> Sent:
        """What a group's offsets and their metadata say."""
        below = {partition: max(0, offset) for partition, (offset, _) in notes.items()}
        return cls({partition: frozenset(_numbers(note)) for partition, (_, note) in notes.items()}, below)

    def __contains__(self, place: tuple[int, int]) -> bool:
        partition, offset = place
        return offset < (self.below or {}).get(partition, 0) or offset in self.offsets.get(partition, ())

    def and_these(self, places: Iterable[tuple[int, int]]) -> Sent:
        """With more letters."""
        more = {partition: set(offsets) for partition, offsets in self.offsets.items()}
        for partition, offset in places:
            more.setdefault(partition, set()).add(offset)
        return Sent({partition: frozenset(offsets) for partition, offsets in more.items()}, self.below)

    def notes(self) -> dict[int, tuple[int, str]]:
        """The offset and the metadata to commit for each partition."""
        found = {}
        for partition, offsets in self.offsets.items():
            first = (self.below or {}).get(partition, 0)
            while first in offsets:
                first += 1
            note = ",".join(_ranges(sorted(offset for offset in offsets if offset > first)))
            if len(note) > _LONGEST_NOTE:
                raise TidemillError(
                    f"the replayed letters of partition {partition} are too scattered to be noted",
                    remedy="replay the letters between them first, with fewer filters",
                )
            found[partition] = (first, note)
        return found


def _ranges(offsets: Sequence[int]) -> Iterator[str]:
    start = 0
    for index, offset in enumerate(offsets):
        if index + 1 == len(offsets) or offsets[index + 1] != offset + 1:
            first = offsets[start]
            yield str(first) if first == offset else f"{first}-{offset}"
            start = index + 1


def _numbers(note: str) -> Iterator[int]:
    for part in filter(None, note.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _produce(producer: Any, watch: Watch, record: Record, failures: list[tuple[Any, str]]) -> None:
    def delivered(error: Any, _message: Any) -> None:
        if error is not None:
            failures.append((error, record.topic))

    fields: dict[str, Any] = {"key": record.key, "value": record.value, "headers": record.headers}
    if record.timestamp:
        fields["timestamp"] = record.timestamp
    if record.partition >= 0:
        fields["partition"] = record.partition
    while True:
        try:
            producer.produce(record.topic, on_delivery=delivered, **fields)
            return
        except BufferError:
            producer.poll(0.1)
        except Exception as error:  # translated: the client's exception type is imported lazily
            raise watch.error(error, Subject("topic", record.topic)) from error


def _call(watch: Watch, ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except Exception as error:  # translated: the client's exception type is imported lazily
        raise watch.error(error) from error
