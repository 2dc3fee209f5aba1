"""What a reset will do: the app's topics sorted into input, intermediate and internal, and every offset."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tidemill.errors import NotFound, UsageError, VerificationFailed
from tidemill.kafka.admin import Admin
from tidemill.kafka.groups import committed, plan_moves, refuse_if_active
from tidemill.kafka.offsets import TopicPartition
from tidemill.runtime.begin import Begin
from tidemill.runtime.reset import Moved, ResetPlan, unfinished_reset
from tidemill.runtime.target import Target
from tidemill.runtime.topics import marker_topic
from tidemill.topology.names import changelog_topic
from tidemill.topology.nodes import Kind

_INTERNAL = ("-changelog", "-repartition", "-subscription-registration-topic", "-subscription-response-topic")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetRequest:
    """What a user says. Topics that are not said are taken from the app's topology."""

    target: Target = field(default_factory=Target.of)
    input_topics: tuple[str, ...] | None = None
    intermediate_topics: tuple[str, ...] | None = None
    internal_topics: tuple[str, ...] | None = None
    dead_letter_topics: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        target: Mapping[str, Any],
        input_topics: Iterable[str] | None = None,
        intermediate_topics: Iterable[str] | None = None,
        internal_topics: Iterable[str] | None = None,
        dead_letter_topics: Iterable[str] | None = None,
    ) -> Self:
        """The request of a call or a command; `target` has at most one of the words of `Target.of`."""
        return cls(
            target=Target.of(**target),
            input_topics=None if input_topics is None else tuple(input_topics),
            intermediate_topics=None if intermediate_topics is None else tuple(intermediate_topics),
            internal_topics=None if internal_topics is None else tuple(internal_topics),
            dead_letter_topics=tuple(dead_letter_topics or ()),
        )

    @property
    def words(self) -> str:
        """The request in one line."""
        named = {
            "input": self.input_topics,
            "intermediate": self.intermediate_topics,
            "internal": self.internal_topics,
            "dead letters": self.dead_letter_topics or None,
        }
        said = [
            f"{name}: {', '.join(topics) or 'none'}" for name, topics in named.items() if topics is not None
        ]
        return "; ".join([self.target.words, *said])


def prepare_reset(
    admin: Admin,
    application_id: str,
    *,
    folder: Path,
    checkpoint: str,
    request: ResetRequest,
    topology: Mapping[str, Any] | None = None,
) -> ResetPlan:
    """The plan of a reset: one that was interrupted is gone on with as it was meant.

    The topology is that of the app's state, else the one given.
    """
    interrupted = unfinished_reset(folder)
    if interrupted is None:
        noted = noted_topology(folder) or topology
        return plan_reset(
            admin, application_id, folder=folder, checkpoint=checkpoint, topology=noted, request=request
        )
    if request.words not in (interrupted.words, ResetRequest().words):
        raise VerificationFailed(
            f"a reset of this app ({interrupted.words}) was interrupted; nothing was changed",
            where=str(folder),
            remedy=f"finish it with `tidemill app reset {application_id}`, then reset again",
        )
    return interrupted


def noted_topology(folder: Path) -> Mapping[str, Any] | None:
    """The topology an app's state was made by, None if it has no state."""
    try:
        topology: Mapping[str, Any] = json.loads((folder / "app.json").read_text(encoding="utf-8"))[
            "topology"
        ]
    except (OSError, ValueError, KeyError):
        return None
    return topology


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of an app by their part in a reset."""

    read: tuple[str, ...]
    patterns: tuple[str, ...]
    whole: tuple[str, ...]
    """Topics of global tables, which are always read from the beginning."""
    written: tuple[str, ...]
    stores: tuple[str, ...]

    @classmethod
    def of(cls, plan: Mapping[str, Any]) -> Topics:
        """The topics in a topology's plain form."""
        nodes = plan["nodes"]
        sources = [node for node in nodes if "topics" in node or "pattern" in node]
        whole = [node for node in sources if node["kind"] == Kind.GLOBAL_TABLE.value]
        return cls(
            read=_unique(topic for node in sources for topic in node.get("topics", ())),
            patterns=_unique(node["pattern"] for node in sources if "pattern" in node),
            whole=_unique(topic for node in whole for topic in node.get("topics", ())),
            written=_unique(node["topic"] for node in nodes if isinstance(node.get("topic"), str)),
            stores=_unique(store["name"] for store in plan["stores"]),
        )


def plan_reset(
    admin: Admin,
    application_id: str,
    *,
    folder: Path,
    checkpoint: str,
    topology: Mapping[str, Any] | None,
    request: ResetRequest,
) -> ResetPlan:
    """Work out a reset; refused while the app's group has members.

    Without a topology, as where the folder of the app is lost, its topics are those its group has offsets in.
    """
    refuse_if_active(admin, application_id)
    now = committed(admin, application_id)
    existing = {topic.name: len(topic.partitions) for topic in admin.topics()}
    topics = _topics_of(topology, application_id, now, existing)
    _check_named(admin, request, existing)
    parts = _parts(topics, request, existing)
    moves = list(_moves(admin, application_id, parts, request, existing, now))
    moved = {(move.topic, move.partition) for move in moves}
    kept: Begin = {}
    for (topic, partition), offset in now.items():
        if topic in topics.read and (topic, partition) not in moved:
            kept.setdefault(topic, {})[partition] = offset
    deleted, alone = _internal(application_id, topics, request, existing, known=topology is not None)
    markers = marker_topic(application_id)
    return ResetPlan(
        application_id=application_id,
        words=request.words,
        folder=str(folder),
        checkpoint=checkpoint,
        moves=tuple(moves),
        kept={topic: {str(part): at for part, at in parts.items()} for topic, parts in kept.items()},
        topics=(*deleted, *([markers] if markers in existing else []), *request.dead_letter_topics),
        groups=(markers,),
        left_alone=alone,
    )


def keep_offsets(admin: Admin, application_id: str, *, folder: Path, checkpoint: str) -> ResetPlan:
    """A plan that only wipes the state: the app goes on where its group is, with empty stores."""
    refuse_if_active(admin, application_id)
    now = committed(admin, application_id)
    moves = tuple(Moved(topic, part, offset, offset) for (topic, part), offset in sorted(now.items()))
    return ResetPlan(application_id, "keep offsets", str(folder), checkpoint, moves)


@dataclass(frozen=True, slots=True)
class _Parts:
    to_target: tuple[str, ...]
    to_end: tuple[str, ...]
    to_beginning: tuple[str, ...]


def _topics_of(
    topology: Mapping[str, Any] | None,
    application_id: str,
    now: Mapping[TopicPartition, int],
    existing: Mapping[str, int],
) -> Topics:
    if topology is None:
        if not now:
            raise NotFound(
                f"there is neither state nor a group of an app `{application_id}`",
                remedy="say where its state is with --state-dir",
            )
        return Topics(_unique(topic for topic, _ in now), (), (), (), ())
    topics = Topics.of(topology)
    own = {
        marker_topic(application_id),
        *(changelog_topic(application_id, store) for store in topics.stores),
    }
    matched = [
        topic
        for topic in existing
        if topic not in own and any(re.fullmatch(pattern, topic) for pattern in topics.patterns)
    ]
    return Topics(
        _unique([*topics.read, *matched]), topics.patterns, topics.whole, topics.written, topics.stores
    )


def _check_named(admin: Admin, request: ResetRequest, existing: Mapping[str, int]) -> None:
    named = (request.input_topics, request.intermediate_topics, request.internal_topics)
    for topic in [topic for topics in (*named, request.dead_letter_topics) for topic in topics or ()]:
        if topic not in existing:
            raise NotFound(
                f"topic `{topic}` does not exist; nothing was changed",
                where=admin.watch.where,
                remedy="correct its name, or look at `tidemill topics list`",
            )


def _parts(topics: Topics, request: ResetRequest, existing: Mapping[str, int]) -> _Parts:
    """Which topics are moved where; by default what the app writes itself is read from its end."""
    middle = request.intermediate_topics
    if middle is None:
        middle = tuple(topic for topic in topics.read if topic in topics.written)
    inputs = request.input_topics
    if inputs is None:
        inputs = tuple(topic for topic in topics.read if topic not in middle and topic not in topics.whole)
    strangers = [
        topic for topic in (*inputs, *(request.intermediate_topics or ())) if topic not in topics.read
    ]
    if strangers:
        raise UsageError(
            f"the app does not read {', '.join(f'`{topic}`' for topic in strangers)}",
            remedy=f"it reads {', '.join(topics.read)}",
        )
    there = set(existing)
    return _Parts(
        to_target=tuple(topic for topic in inputs if topic in there),
        to_end=tuple(topic for topic in middle if topic in there and topic not in inputs),
        to_beginning=tuple(topic for topic in topics.whole if topic in there and topic not in inputs),
    )


def _moves(
    admin: Admin,
    group: str,
    parts: _Parts,
    request: ResetRequest,
    existing: Mapping[str, int],
    now: Mapping[TopicPartition, int],
) -> Iterator[Moved]:
    target = request.target
    inputs = _partitions(parts.to_target, existing)
    if target.to == "shift":
        # What was never read has no place to be moved from: it stays at its reset policy.
        inputs = [key for key in inputs if key in now]
    if target.table is not None:
        strangers = [key for key in target.table if key not in inputs]
        if strangers:
            topic, partition = strangers[0]
            raise UsageError(
                f"{topic}-{partition} is no partition of an input topic",
                where=target.words,
                remedy=f"the input topics are {', '.join(parts.to_target)}",
            )
        inputs = [key for key in inputs if key in target.table]
    wanted = [
        (inputs, target.to),
        (_partitions(parts.to_end, existing), "latest"),
        (_partitions(parts.to_beginning, existing), "earliest"),
    ]
    for keys, to in wanted:
        if keys:
            for move in plan_moves(admin, group, keys, to=to, value=target.value, table=target.table):
                yield Moved(move.topic, move.partition, move.current, move.new)


def _internal(
    application_id: str,
    topics: Topics,
    request: ResetRequest,
    existing: Mapping[str, int],
    *,
    known: bool,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Internal topics to delete, and those that only look like it: another app's id may begin like ours."""
    alike = [
        topic for topic in existing if topic.startswith(f"{application_id}-") and topic.endswith(_INTERNAL)
    ]
    if request.internal_topics is not None:
        strangers = [topic for topic in request.internal_topics if topic not in alike]
        if strangers:
            raise UsageError(
                f"`{strangers[0]}` is no internal topic of the app",
                remedy=f"internal topics begin with `{application_id}-` and end with {', '.join(_INTERNAL)}",
            )
        return request.internal_topics, ()
    own = {changelog_topic(application_id, store) for store in topics.stores}
    if not known:
        return (), tuple(alike)
    return tuple(topic for topic in alike if topic in own), tuple(
        topic for topic in alike if topic not in own
    )


def _partitions(topics: Sequence[str], existing: Mapping[str, int]) -> list[TopicPartition]:
    return [(topic, partition) for topic in topics for partition in range(existing[topic])]


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
