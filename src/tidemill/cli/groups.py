"""`tidemill groups`: who reads, how far behind, and moving offsets."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tidemill.cli.complete import group_names, topic_names
from tidemill.cli.help import Command, group
from tidemill.cli.options import session
from tidemill.cli.output import Column
from tidemill.cli.session import Session
from tidemill.errors import NotFound, UsageError, VerificationFailed

app = group("groups", "Consumer groups: lag, members, moving offsets.")

Name = Annotated[str, typer.Argument(metavar="GROUP", help="Name of the group.", autocompletion=group_names)]


@app.command("list", cls=Command)
@session
def list_groups(session: Session) -> None:
    """List consumer groups.

    Example:

        $ tidemill groups list
    """
    from tidemill.kafka import groups

    rows = [
        {"group": item.id, "state": item.state.lower(), "type": item.type.lower()}
        for item in groups.list_groups(session.admin)
    ]
    columns = [Column("group", "GROUP"), Column("state", "STATE"), Column("type", "TYPE", wide=True)]
    session.out.rows(columns, rows, empty="No groups.")


@app.command("describe", cls=Command)
@session
def describe(
    session: Session,
    names: Annotated[
        list[str], typer.Argument(metavar="GROUP", help="Names of groups.", autocompletion=group_names)
    ],
    verify_lag: Annotated[
        bool, typer.Option("--verify-lag", help="Exit code 6 unless everything was read.")
    ] = False,
) -> None:
    """Show offset, end, lag and member per partition.

    Example:

        $ tidemill groups describe billing
        $ tidemill groups describe billing --verify-lag && echo all read
    """
    from tidemill.kafka import groups

    found: list[dict[str, Any]] = []
    for name in names:
        item = groups.describe_group(session.admin, name)
        rows = groups.progress(session.admin, item)
        lags = [row.lag for row in rows]
        found.append(
            {
                "group": name,
                "state": item.state.lower(),
                "type": item.type.lower(),
                "coordinator": item.coordinator,
                "assignor": item.assignor,
                "members": len(item.members),
                "lag": sum(lag for lag in lags if lag is not None),
                "partitions": [groups.as_json(row) for row in rows],
            }
        )
    session.out.document(found if len(found) > 1 else found[0], lambda: _draw(session, found))
    behind = [
        f"{item['group']} by {item['lag']}"
        for item in found
        if any(row["lag"] != 0 for row in item["partitions"]) or not item["partitions"]
    ]
    if verify_lag and behind:
        raise VerificationFailed(f"not everything was read: {', '.join(behind)} records behind")


@app.command("reset-offsets", cls=Command)
@session
def reset_offsets(
    session: Session,
    name: Name,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            "-t",
            "--topic",
            metavar="TOPIC[:P,...]",
            help="Topic to move in, or some partitions of it; repeatable.",
            autocompletion=topic_names,
        ),
    ] = None,
    all_topics: Annotated[
        bool, typer.Option("--all-topics", help="Every topic the group has offsets in.")
    ] = False,
    to_earliest: Annotated[bool, typer.Option("--to-earliest", help="To the first record.")] = False,
    to_latest: Annotated[bool, typer.Option("--to-latest", help="To the end.")] = False,
    to_current: Annotated[
        bool, typer.Option("--to-current", help="To where it is: fixes offsets out of range.")
    ] = False,
    to_offset: Annotated[int | None, typer.Option("--to-offset", metavar="N", help="To this offset.")] = None,
    to_datetime: Annotated[
        str | None,
        typer.Option("--to-datetime", metavar="TIME", help="To the first record at or after a time (UTC)."),
    ] = None,
    by_duration: Annotated[
        str | None, typer.Option("--by-duration", metavar="TIME", help="To so long ago: PT1H30M, P7D, 90m.")
    ] = None,
    shift_by: Annotated[
        int | None,
        typer.Option("--shift-by", metavar="N", help="So many records forward, or back if negative."),
    ] = None,
    from_file: Annotated[
        Path | None,
        typer.Option("--from-file", metavar="FILE", help="To the topic,partition,offset lines of a file."),
    ] = None,
    execute: Annotated[
        bool, typer.Option("--execute/--dry-run", help="Do it; the default only shows what would be done.")
    ] = False,
) -> None:
    """Move a group's offsets.

    Only shows what would be done; --execute does it. Refused (exit code 6) while the group has members.

    Example:

        $ tidemill groups reset-offsets billing --topic orders --to-earliest
        $ tidemill groups reset-offsets billing --topic orders:0,1 --by-duration PT2H --execute
        $ tidemill groups reset-offsets billing --all-topics --shift-by -10 --execute
    """
    from tidemill.kafka import groups
    from tidemill.kafka.offsets import parse_duration, parse_time

    ago = (
        None
        if by_duration is None
        else round((time.time() - parse_duration(by_duration).total_seconds()) * 1000)
    )
    choices: list[tuple[str, int]] = [
        *([("earliest", 0)] if to_earliest else []),
        *([("latest", 0)] if to_latest else []),
        *([("current", 0)] if to_current else []),
        *([("offset", to_offset)] if to_offset is not None else []),
        *([("time", parse_time(to_datetime))] if to_datetime is not None else []),
        *([("time", ago)] if ago is not None else []),
        *([("shift", shift_by)] if shift_by is not None else []),
        *([("table", 0)] if from_file is not None else []),
    ]
    if len(choices) != 1:
        raise UsageError(
            "say one place to move to" if not choices else "more than one place to move to",
            remedy="pass exactly one of --to-earliest, --to-latest, --to-current, --to-offset, --to-datetime,"
            " --by-duration, --shift-by, --from-file",
        )
    table = None if from_file is None else groups.read_offsets_file(from_file)
    groups.refuse_if_active(session.admin, name)
    keys = _partitions(session, name, topic, all_topics=all_topics, listed=list(table or {}))
    (to, value) = choices[0]
    moves = groups.plan_moves(session.admin, name, keys, to=to, value=value, table=table)
    if execute:
        groups.commit_offsets(session.admin, name, {(move.topic, move.partition): move.new for move in moves})
    columns = [
        Column("topic", "TOPIC"),
        Column("partition", "PARTITION", right=True),
        Column("current_offset", "CURRENT", right=True),
        Column("new_offset", "NEW", right=True),
    ]
    session.out.rows(columns, [groups.as_json(move) for move in moves])
    session.out.note(
        f"Moved {len(moves)} offsets of group {name}."
        if execute
        else "Nothing was changed: this was a dry run, --execute does it."
    )


@app.command("delete", cls=Command)
@session
def delete(
    session: Session,
    names: Annotated[
        list[str], typer.Argument(metavar="GROUP", help="Names of groups.", autocompletion=group_names)
    ],
) -> None:
    """Delete groups and their offsets.

    Refused (exit code 6) while they have members.

    Example:

        $ tidemill groups delete billing --yes
    """
    from tidemill.kafka import groups

    for name in names:
        if groups.refuse_if_active(session.admin, name) is None:
            raise NotFound(
                f"group `{name}` does not exist",
                where=session.settings.bootstrap_servers,
                remedy="look at `tidemill groups list`",
            )
    session.confirm(f"Delete {', '.join(names)} with all offsets?")
    for name in names:
        groups.delete_group(session.admin, name)
    session.out.note(f"Deleted {', '.join(names)}.")


def _partitions(
    session: Session, name: str, words: list[str] | None, *, all_topics: bool, listed: list[tuple[str, int]]
) -> list[tuple[str, int]]:
    from tidemill.kafka import groups

    if listed and not words and not all_topics:
        for topic in {topic for topic, _ in listed}:
            session.admin.topic(topic)
        return sorted(listed)
    if all_topics == bool(words):
        raise UsageError("say which topics", remedy="pass --topic TOPIC, or --all-topics")
    if all_topics:
        found = sorted(groups.committed(session.admin, name))
        if not found:
            raise NotFound(
                f"group `{name}` has no offsets",
                where=session.settings.bootstrap_servers,
                remedy="name a --topic",
            )
        return found
    keys: list[tuple[str, int]] = []
    for word in words or []:
        topic, _, chosen = word.partition(":")
        there = [partition.id for partition in session.admin.topic(topic).partitions]
        keys += [(topic, number) for number in (_numbers(word, chosen, there) if chosen else there)]
    if listed:
        keys = [key for key in keys if key in set(listed)]
    return keys


def _numbers(word: str, chosen: str, there: list[int]) -> list[int]:
    try:
        numbers = [int(number) for number in chosen.split(",")]
    except ValueError as error:
        raise UsageError(f"`{word}` is not TOPIC:P,P", remedy="write --topic orders:0,2") from error
    for number in numbers:
        if number not in there:
            raise NotFound(
                f"there is no partition {number} in `{word}`", remedy=f"choose one of 0..{len(there) - 1}"
            )
    return numbers


def _draw(session: Session, found: list[dict[str, Any]]) -> None:
    out = session.out
    columns = [
        Column("topic", "TOPIC"),
        Column("partition", "PARTITION", right=True),
        Column("current_offset", "CURRENT", right=True),
        Column("end_offset", "END", right=True),
        Column("lag", "LAG", right=True),
        Column("member", "MEMBER", show=_member),
        Column(
            "member", "MEMBER ID", wide=True, show=lambda member: "-" if member is None else str(member["id"])
        ),
    ]
    for number, item in enumerate(found):
        if number:
            out.line()
        members = f"{item['members']} member{'s' * (item['members'] != 1)}"
        if out.on_terminal or out.form is not None:
            out.line(f"{out.bold(item['group'])}  {item['state']}, {members}, {item['lag']} records behind")
        out.rows(columns, item["partitions"], empty="No offsets.")


def _member(member: dict[str, Any] | None) -> str:
    return "-" if member is None else f"{member['client_id']}@{member['host']}"
