"""`tidemill dlq`: dead letters: what failed and why, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemill.cli.complete import topic_names
from tidemill.cli.help import Command, group
from tidemill.cli.options import session
from tidemill.cli.output import Column
from tidemill.cli.session import Session
from tidemill.errors import UsageError
from tidemill.kafka.records import Format, decode, show_headers, show_time, to_json

if TYPE_CHECKING:
    from tidemill.kafka.dead_letters import Letter

app = group("dlq", "Dead letters: what an app could not process, why, and the way back.")

Name = Annotated[
    str,
    typer.Argument(
        metavar="TOPIC", help="The topic of dead letters, or the app it is of.", autocompletion=topic_names
    ),
]
Kind = Annotated[
    str | None,
    typer.Option("--kind", metavar="KIND", help="Only deserialization, processing or production failures."),
]
Error = Annotated[
    str | None,
    typer.Option("--error", metavar="TEXT", help="Only errors whose class or message has this text."),
]
Node = Annotated[str | None, typer.Option("--node", metavar="NAME", help="Only failures of this step.")]
Source = Annotated[
    str | None, typer.Option("--from", metavar="TOPIC", help="Only records of this original topic.")
]
At = Annotated[
    list[str] | None,
    typer.Option("--at", metavar="PARTITION:OFFSET", help="Only the letter at this place; repeatable."),
]


@app.command("list", cls=Command)
@session
def list_letters(
    session: Session,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC",
            help="Topics of dead letters or apps; all topics named ...-dlq if not said.",
            autocompletion=topic_names,
        ),
    ] = None,
) -> None:
    """Count dead letters by what went wrong, where and with records of which topic.

    Example:

        $ tidemill dlq list
        $ tidemill dlq list billing -O json
    """
    from tidemill.kafka import dead_letters

    admin = session.admin
    topics = [dead_letters.topic_of(admin, name) for name in names or ()]
    if not topics:
        topics = [topic.name for topic in admin.topics() if topic.name.endswith(dead_letters.SUFFIX)]
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for topic in topics:
        sent = dead_letters.Replay(session.settings, topic).sent()
        for letter in dead_letters.letters(session.settings, topic):
            about = _about(letter)
            key = (topic, about["kind"], about["error"], about["from"], about["node"])
            row = rows.setdefault(
                key, {"topic": topic, **{name: about[name] for name in _COUNTED}, "count": 0, "replayed": 0}
            )
            row["count"] += 1
            row["replayed"] += letter.place in sent
    columns = [
        Column("topic", "TOPIC"),
        Column("kind", "KIND"),
        Column("node", "NODE"),
        Column("from", "FROM"),
        Column("error", "ERROR"),
        Column("count", "LETTERS", right=True),
        Column("replayed", "REPLAYED", right=True),
    ]
    session.out.rows(columns, list(rows.values()), empty="No dead letters.")


@app.command("show", cls=Command)
@session
def show(
    session: Session,
    name: Name,
    kind: Kind = None,
    error: Error = None,
    node: Node = None,
    source: Source = None,
    at: At = None,
    count: Annotated[
        int | None, typer.Option("-c", "--count", metavar="N", min=1, help="Stop after so many.")
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="With the stack trace.")] = False,
    key_format: Annotated[
        Format, typer.Option("--key-format", help="What the bytes of keys are.")
    ] = Format.string,
    value_format: Annotated[
        Format, typer.Option("--value-format", help="What the bytes of values are.")
    ] = Format.string,
) -> None:
    """Show dead letters: the record as it was, and why it failed.

    Example:

        $ tidemill dlq show billing
        $ tidemill dlq show billing --at 0:12 --trace
        $ tidemill dlq show billing --node divide -O json
    """
    from tidemill.kafka import dead_letters

    topic = dead_letters.topic_of(session.admin, name)
    chosen = _chosen(kind, error, node, source, at)
    found = []
    for letter in dead_letters.letters(session.settings, topic):
        if chosen(letter):
            found.append(letter)
            if count is not None and len(found) == count:
                break
    if session.out.is_data:
        session.out.data([_data(letter, key_format, value_format) for letter in found])
        return
    for letter in found:
        _print(session, letter, key_format, value_format, trace=trace)
    if not found:
        session.out.note("No dead letters.")


@app.command("replay", cls=Command)
@session
def replay(
    session: Session,
    name: Name,
    kind: Kind = None,
    error: Error = None,
    node: Node = None,
    source: Source = None,
    at: At = None,
    execute: Annotated[
        bool, typer.Option("--execute/--dry-run", help="Do it; the default only shows what would be done.")
    ] = False,
) -> None:
    """Send dead letters back to the topics they came from.

    Only shows what would be done; --execute does it. Records go back with their own key, value, headers, time
    and partition. A letter is sent once: a group named TOPIC-replay notes it in the same transaction.

    Example:

        $ tidemill dlq replay billing
        $ tidemill dlq replay billing --kind deserialization --execute
        $ tidemill dlq replay billing --at 0:12 --at 0:15 --execute
    """
    from tidemill.kafka import dead_letters

    topic = dead_letters.topic_of(session.admin, name)
    chosen = _chosen(kind, error, node, source, at)
    back = dead_letters.Replay(session.settings, topic)
    if execute:
        done = back.send(chosen)
    else:
        sent = back.sent()
        done = [
            letter
            for letter in dead_letters.letters(session.settings, topic)
            if chosen(letter) and letter.is_whole and letter.place not in sent
        ]
    columns = [
        Column("partition", "PARTITION", right=True),
        Column("offset", "OFFSET", right=True),
        Column("from", "TO"),
        Column("node", "NODE"),
        Column("error", "ERROR"),
    ]
    session.out.rows(columns, [_about(letter) for letter in done])
    session.out.note(
        f"Sent {len(done)} records back."
        if execute
        else f"{len(done)} records would be sent back: this was a dry run, --execute does it."
    )


_COUNTED = ("kind", "node", "from", "error")


def _chosen(
    kind: str | None, error: str | None, node: str | None, source: str | None, at: list[str] | None
) -> Callable[[Letter], bool]:
    places = {_place(text) for text in at or ()}

    def chosen(letter: Letter) -> bool:
        about = _about(letter)
        return (
            (kind is None or about["kind"] == kind)
            and (error is None or error in about["error"] or error in about["message"])
            and (node is None or about["node"] == node)
            and (source is None or about["from"] == source)
            and (not places or letter.place in places)
        )

    return chosen


def _place(text: str) -> tuple[int, int]:
    partition, _, offset = text.partition(":")
    if not (partition.isdecimal() and offset.isdecimal()):
        raise UsageError(
            f"`{text}` is not a place", where="--at", remedy="write PARTITION:OFFSET, as in 0:12"
        )
    return int(partition), int(offset)


def _about(letter: Letter) -> dict[str, Any]:
    from tidemill.kafka import dead_letters as names

    return {
        "partition": letter.record.partition,
        "offset": letter.record.offset,
        "kind": letter.told(names.KIND),
        "node": letter.told(names.NODE),
        "from": letter.told(names.TOPIC),
        "error": letter.told(names.EXCEPTION),
        "message": letter.told(names.MESSAGE),
    }


def _data(letter: Letter, key: Format, value: Format) -> dict[str, Any]:
    from tidemill.kafka import dead_letters as names

    record = to_json(letter.again(), key_form=key, value_form=value)
    record["offset"] = _number(letter.told(names.OFFSET))
    about = _about(letter)
    place = {name: about.pop(name) for name in ("partition", "offset")}
    about |= {
        "application_id": letter.told(names.APPLICATION),
        "stacktrace": letter.told(names.STACKTRACE),
    }
    return {"letter": {"topic": letter.record.topic, **place}, "reason": about, "record": record}


def _number(text: str) -> int | None:
    return int(text) if text else None


def _print(session: Session, letter: Letter, key: Format, value: Format, *, trace: bool) -> None:
    from tidemill.kafka import dead_letters as names

    record, about = letter.record, _about(letter)
    place = ":".join(filter(None, (about["from"], letter.told(names.PARTITION), letter.told(names.OFFSET))))
    head = f"{record.topic}[{record.partition}]@{record.offset}"
    session.out.line(session.out.bold(f"{head}  {about['kind']} failed at `{about['node']}`"))
    session.out.line(f"  {about['error']}: {about['message']}")
    session.out.line(f"  record  {place or '-'}  {show_time(record.timestamp)}")
    session.out.line(f"  key     {decode(record.key, key, null='∅')}")
    left_out = letter.told(names.LEFT_OUT)
    text = f"{left_out} bytes, left out" if left_out else decode(record.value, value, null="∅")
    session.out.line(f"  value   {text}")
    if letter.headers:
        session.out.line(f"  headers {show_headers(letter.headers)}")
    if trace:
        session.out.line("\n".join(f"    {line}" for line in letter.told(names.STACKTRACE).splitlines()))
