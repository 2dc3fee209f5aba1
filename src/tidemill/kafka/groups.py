"""Consumer groups: who they are, how far behind, and moving their offsets."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemill.errors import NotFound, TidemillError, UsageError, VerificationFailed
from tidemill.kafka.admin import Admin
from tidemill.kafka.clients import REQUEST_TIMEOUT, consumer_config
from tidemill.kafka.errors import CoordinatorBusy, Subject, translate
from tidemill.kafka.offsets import TopicPartition, Watermarks, offsets_at, watermarks
from tidemill.kafka.patience import patient

_IDLE = {"EMPTY", "DEAD"}


@dataclass(frozen=True)
class GroupListing:
    id: str
    state: str
    type: str


@dataclass(frozen=True)
class Member:
    id: str
    client_id: str
    host: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True)
class Group:
    """A group's state and members."""

    id: str
    state: str
    type: str
    coordinator: str
    assignor: str
    members: tuple[Member, ...]

    @property
    def is_active(self) -> bool:
        return self.state not in _IDLE


@dataclass(frozen=True)
class Progress:
    """How far a group is in one partition."""

    topic: str
    partition: int
    current: int | None
    end: int
    member: Member | None

    @property
    def lag(self) -> int | None:
        return None if self.current is None else max(0, self.end - self.current)


@dataclass(frozen=True)
class Move:
    """One partition of an offset reset."""

    topic: str
    partition: int
    current: int | None
    new: int


def list_groups(admin: Admin) -> list[GroupListing]:
    """All consumer groups, by name."""
    admin.reach()
    listed = admin.wait(admin.raw.list_consumer_groups(request_timeout=REQUEST_TIMEOUT))
    if not listed.valid and listed.errors:
        raise admin.watch.error(listed.errors[0], Subject("list of groups"))
    found = (GroupListing(group.group_id, group.state.name, group.type.name) for group in listed.valid)
    return sorted(found, key=lambda group: group.id)


@patient(CoordinatorBusy)
def describe_group(admin: Admin, name: str) -> Group:
    """One group; `NotFound` if neither members nor offsets tell of it."""
    admin.reach()
    subject = Subject("group", name)
    future = admin.raw.describe_consumer_groups([name], request_timeout=REQUEST_TIMEOUT)[name]
    found = admin.wait(future, subject)
    if found.state.name == "DEAD" and not committed(admin, name):
        raise translate("GROUP_ID_NOT_FOUND", where=admin.watch.where, subject=subject)
    members = tuple(
        Member(
            id=member.member_id,
            client_id=member.client_id,
            host=member.host.lstrip("/"),
            partitions=tuple((part.topic, part.partition) for part in member.assignment.topic_partitions),
        )
        for member in found.members
    )
    coordinator = f"{found.coordinator.host}:{found.coordinator.port}" if found.coordinator else ""
    return Group(
        name, found.state.name, found.type.name, coordinator, found.partition_assignor or "", members
    )


def committed(admin: Admin, name: str) -> dict[TopicPartition, int]:
    """The offsets a group has committed."""
    return {partition: offset for partition, (offset, _) in committed_with_notes(admin, name).items()}


@patient(CoordinatorBusy)
def committed_with_notes(admin: Admin, name: str) -> dict[TopicPartition, tuple[int, str]]:
    """The offsets a group has committed, and the text that was committed with each."""
    from confluent_kafka import ConsumerGroupTopicPartitions

    admin.reach()
    subject = Subject("group", name)
    _find_coordinator(admin, name, subject)
    request = [ConsumerGroupTopicPartitions(name)]
    try:
        future = admin.raw.list_consumer_group_offsets(request, request_timeout=REQUEST_TIMEOUT)[name]
        found = admin.wait(future, subject)
    except NotFound:
        return {}
    return {
        (part.topic, part.partition): (part.offset, (part.metadata or "").rstrip("\0"))
        for part in found.topic_partitions
        if part.offset >= 0
    }


def _find_coordinator(admin: Admin, name: str, subject: Subject) -> None:
    """Make sure the group's coordinator answers, by a question that is safe to ask.

    An offset request of an admin client that meets a coordinator which is not ready, as the first one on a
    new cluster does, makes librdkafka 2.16 end the process: it takes the client for a member of the group.
    """
    with suppress(NotFound):
        admin.wait(admin.raw.describe_consumer_groups([name], request_timeout=REQUEST_TIMEOUT)[name], subject)


def progress(admin: Admin, group: Group) -> list[Progress]:
    """Offset, end and member of every partition the group has an offset or a member for."""
    offsets = committed(admin, group.id)
    owners = {partition: member for member in group.members for partition in member.partitions}
    wanted = sorted({*offsets, *owners})
    marks = _existing_marks(admin, wanted)
    return [
        Progress(topic, part, offsets.get((topic, part)), marks[topic, part].high, owners.get((topic, part)))
        for topic, part in wanted
        if (topic, part) in marks
    ]


def refuse_if_active(admin: Admin, name: str) -> Group | None:
    """The group if it exists, idle; `VerificationFailed` while it has members."""
    try:
        group = describe_group(admin, name)
    except NotFound:
        return None
    if group.is_active:
        members = f"{len(group.members)} member{'s' * (len(group.members) != 1)}"
        raise VerificationFailed(
            f"group `{name}` is {group.state.lower()} with {members}; nothing was changed",
            where=admin.watch.where,
            remedy="stop its consumers, then try again",
        )
    return group


@patient(CoordinatorBusy)
def commit_offsets(admin: Admin, name: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Set a group's committed offsets from outside."""
    from confluent_kafka import ConsumerGroupTopicPartitions
    from confluent_kafka import TopicPartition as ClientPartition

    admin.reach()
    subject = Subject("group", name)
    parts = [ClientPartition(topic, partition, offset) for (topic, partition), offset in offsets.items()]
    request = [ConsumerGroupTopicPartitions(name, parts)]
    future = admin.raw.alter_consumer_group_offsets(request, request_timeout=REQUEST_TIMEOUT)[name]
    result = admin.wait(future, subject)
    for part in result.topic_partitions:
        if part.error is not None:
            raise admin.watch.error(part.error, Subject("topic", part.topic))


class GroupCommitter:
    """Commits offsets to a group that has no members, again and again.

    Through a consumer: the admin client's way of doing it ends the process when a broker restarts meanwhile.
    """

    def __init__(self, admin: Admin, name: str) -> None:
        from confluent_kafka import Consumer

        self._admin, self._subject = admin, Subject("group", name)
        config = consumer_config(admin.settings, group=name) | {"enable.auto.commit": "false"}
        self._consumer = Consumer(config | {"error_cb": admin.watch})

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Set the group's committed offsets; returns when Kafka has them."""
        from confluent_kafka import KafkaException
        from confluent_kafka import TopicPartition as ClientPartition

        parts = [ClientPartition(topic, part, offset) for (topic, part), offset in offsets.items()]
        try:
            results = self._consumer.commit(offsets=parts, asynchronous=False)
        except KafkaException as error:
            raise self._admin.watch.error(error.args[0], self._subject) from error
        for part in results:
            if part.error is not None:
                raise self._admin.watch.error(part.error, Subject("topic", part.topic))

    def close(self) -> None:
        """Let go of the brokers."""
        self._consumer.close()


@patient(CoordinatorBusy)
def delete_group(admin: Admin, name: str) -> None:
    """Delete a group and its offsets."""
    admin.reach()
    future = admin.raw.delete_consumer_groups([name], request_timeout=REQUEST_TIMEOUT)[name]
    admin.wait(future, Subject("group", name))


def plan_moves(
    admin: Admin,
    name: str,
    partitions: Iterable[TopicPartition],
    *,
    to: str,
    value: int = 0,
    table: Mapping[TopicPartition, int] | None = None,
) -> list[Move]:
    """Where a reset would move the group: every target is kept within what the partition holds.

    `to` is earliest, latest, offset, time, shift, current or table; `value` its number.
    """
    wanted = list(partitions)
    current = committed(admin, name)
    marks = watermarks(admin, wanted)
    at = offsets_at(admin, wanted, value) if to == "time" else {}

    def target(key: TopicPartition, mark: Watermarks) -> int:
        now = current.get(key)
        match to:
            case "earliest":
                return mark.low
            case "latest":
                return mark.high
            case "offset":
                return mark.clip(value)
            case "time":
                return at[key]
            case "shift":
                if now is not None:
                    return mark.clip(now + value)
                raise UsageError(
                    f"group `{name}` has no offset to shift in {key[0]}-{key[1]}",
                    where=admin.watch.where,
                    remedy="use --to-earliest, --to-latest or --to-offset for it",
                )
            case "current":
                return mark.high if now is None else mark.clip(now)
            case _:
                return mark.clip((table or {})[key])

    return [Move(*key, current.get(key), target(key, marks[key])) for key in wanted]


def read_offsets_file(path: Path) -> dict[TopicPartition, int]:
    """Offsets from a file of `topic,partition,offset` lines, as Kafka's own tools write them."""
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except OSError as error:
        raise NotFound(
            f"the file `{path}` cannot be read: {error.strerror}", remedy="correct the path"
        ) from error
    found: dict[TopicPartition, int] = {}
    delimiter = "\t" if "\t" in text else ","
    for number, row in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), 1):
        if not row or row[0].lstrip().startswith("#"):
            continue
        try:
            topic, partition, offset = row
            found[topic.strip().strip('"'), int(partition)] = int(offset)
        except ValueError as error:
            raise UsageError(
                f"not a line of offsets: {delimiter.join(row)!r}",
                where=f"{path}, line {number}",
                remedy="write topic,partition,offset",
            ) from error
    return found


def _existing_marks(admin: Admin, partitions: list[TopicPartition]) -> dict[TopicPartition, Watermarks]:
    """Watermarks, leaving out topics that were deleted while the group still has offsets for them."""
    marks: dict[TopicPartition, Watermarks] = {}
    for topic in dict.fromkeys(topic for topic, _ in partitions):
        try:
            existing = {partition.id for partition in admin.topic(topic).partitions}
        except NotFound:
            continue
        marks.update(watermarks(admin, [key for key in partitions if key[0] == topic and key[1] in existing]))
    return marks


def as_json(item: Progress | Move | Member) -> dict[str, Any]:
    """Plain data for machines."""
    match item:
        case Progress():
            member = None if item.member is None else as_json(item.member)
            return {
                "topic": item.topic,
                "partition": item.partition,
                "current_offset": item.current,
                "end_offset": item.end,
                "lag": item.lag,
                "member": member,
            }
        case Move():
            return {
                "topic": item.topic,
                "partition": item.partition,
                "current_offset": item.current,
                "new_offset": item.new,
            }
        case Member():
            return {"id": item.id, "client_id": item.client_id, "host": item.host}
    raise TidemillError(f"no plain form for {item!r}")
