"""`tidemill app reset`: with the flags of kafka-streams-application-reset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemill.cli.app_names import AppId, StateDir, admin_of
from tidemill.cli.complete import topic_names
from tidemill.cli.output import Column
from tidemill.cli.session import Session
from tidemill.errors import NotFound

if TYPE_CHECKING:
    from tidemill.runtime.known import KnownApp
    from tidemill.runtime.reset import ResetPlan


def reset_app(
    session: Session,
    name: AppId,
    input_topics: Annotated[
        list[str] | None,
        typer.Option(
            "--input-topics",
            "--input-topic",
            metavar="TOPIC,...",
            help="Topics to move in; all the app reads if not said. Others stay where they are.",
            autocompletion=topic_names,
        ),
    ] = None,
    intermediate_topics: Annotated[
        list[str] | None,
        typer.Option(
            "--intermediate-topics",
            metavar="TOPIC,...",
            help="Topics to move to the end; those it reads and writes if not said.",
        ),
    ] = None,
    internal_topics: Annotated[
        list[str] | None,
        typer.Option(
            "--internal-topics",
            metavar="TOPIC,...",
            help="Internal topics to delete; all its own if not said.",
        ),
    ] = None,
    dead_letter_topics: Annotated[
        list[str] | None,
        typer.Option("--dead-letter-topics", metavar="TOPIC,...", help="Topics of dead letters to delete."),
    ] = None,
    to_earliest: Annotated[
        bool, typer.Option("--to-earliest", help="Begin at the first record; the default.")
    ] = False,
    to_latest: Annotated[bool, typer.Option("--to-latest", help="Begin at the end.")] = False,
    to_offset: Annotated[
        int | None, typer.Option("--to-offset", metavar="N", help="Begin at this offset.")
    ] = None,
    to_datetime: Annotated[
        str | None,
        typer.Option("--to-datetime", metavar="TIME", help="At the first record at or after a time (UTC)."),
    ] = None,
    by_duration: Annotated[
        str | None, typer.Option("--by-duration", metavar="TIME", help="At so long ago: PT1H30M, P7D, 90m.")
    ] = None,
    shift_by: Annotated[
        int | None,
        typer.Option("--shift-by", metavar="N", help="So many records forward, or back if negative."),
    ] = None,
    from_file: Annotated[
        Path | None,
        typer.Option("--from-file", metavar="FILE", help="At the topic,partition,offset lines of a file."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Stop the app first if it runs.")] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="How long --force waits for the app.")
    ] = 90.0,
    state_dir: StateDir = None,
) -> None:
    """Make an app forget everything and begin anew.

    Deletes its checkpoint and state, its internal topics and its markers, and moves its group's offsets.
    Refused while it runs. One that was interrupted is finished by saying it again.

    Example:

        $ tidemill app reset shop --dry-run
        $ tidemill app reset shop --to-datetime 2026-01-31T00:00:00 --yes
        $ tidemill app reset shop --input-topics orders --shift-by -100 --force --yes
    """
    from tidemill.runtime.known import KnownApp, apps_dir, find_app
    from tidemill.runtime.reset import reset, unfinished_reset
    from tidemill.runtime.reset_plan import ResetRequest, prepare_reset

    target = {
        "to_earliest": to_earliest,
        "to_latest": to_latest,
        "to_offset": to_offset,
        "to_datetime": to_datetime,
        "by_duration": by_duration,
        "shift_by": shift_by,
        "from_file": from_file,
    }
    named = (input_topics, intermediate_topics, internal_topics, dead_letter_topics)
    request = ResetRequest.of(target, *map(_split, named))
    try:
        known = find_app(name, state_dir)
    except NotFound:
        known = KnownApp(apps_dir(state_dir) / name)  # its folder may be lost; its group tells of it
    if known.holder() is not None and not dry_run:
        _make_room(known, force=force, timeout=timeout)
    admin = admin_of(session, known)
    run = known.run()
    plan = prepare_reset(
        admin,
        name,
        folder=known.folder,
        checkpoint=str(known.folder / "checkpoint") if run is None else run.checkpoint,
        request=request,
    )
    interrupted = unfinished_reset(known.folder) is not None
    session.out.document(plan.to_json(), lambda: _draw(session, plan))
    if dry_run:
        session.out.note("Nothing was changed: this was a dry run.")
        return
    if interrupted:
        session.out.note(f"Going on with a reset that was interrupted: {plan.words}.")
    else:
        session.confirm(f"Delete all state of {name}?")
    reset(plan, admin)
    session.out.note(f"Reset {name}: {plan.words}.")


def _split(words: list[str] | None) -> list[str] | None:
    return None if words is None else [name for word in words for name in word.split(",") if name]


def _make_room(known: KnownApp, *, force: bool, timeout: float) -> None:
    from tidemill.runtime.known import BusyError

    holder = known.holder()
    if force:
        known.stop(timeout)
    elif holder is not None:
        error = BusyError(
            f"the app `{known.application_id}` runs as process {holder.pid}; nothing was changed",
            where=str(known.folder),
            remedy=f"stop it with `tidemill app stop {known.application_id}`, or say --force",
        )
        raise error


def _draw(session: Session, plan: ResetPlan) -> None:
    out = session.out
    columns = [
        Column("topic", "TOPIC"),
        Column("partition", "PARTITION", right=True),
        Column("current", "CURRENT", right=True),
        Column("new", "NEW", right=True),
    ]
    out.rows(columns, [dict(move) for move in plan.to_json()["moves"]])
    out.line(f"delete state\t{plan.checkpoint}")
    for topic in plan.topics:
        out.line(f"delete topic\t{topic}")
    for group in plan.groups:
        out.line(f"delete group\t{group}")
    for topic in plan.left_alone:
        out.note(f"Left alone: {topic} looks like the app's own; --internal-topics {topic} deletes it.")
