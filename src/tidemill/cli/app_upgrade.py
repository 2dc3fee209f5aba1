"""`tidemill app upgrade-check`: whether state survives a new version of a program."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemill.cli.app_load import load_topology
from tidemill.cli.app_names import StateDir
from tidemill.cli.output import Column
from tidemill.cli.session import Session
from tidemill.errors import ExitCode, NotFound, UsageError

if TYPE_CHECKING:
    from tidemill.runtime.checkpoint import Note


def upgrade_check(
    session: Session,
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="Id of an app with state, FILE[:NAME] of a program, or app.json."),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same of the version to come.")],
    everything: Annotated[bool, typer.Option("--all", help="Show steps that did not change too.")] = False,
    state_dir: StateDir = None,
) -> None:
    """Say before a deploy whether the state of an app survives it.

    Exit code 0: the new version goes on with the state. 1: it would be refused, and why.

    Example:

        $ tidemill app upgrade-check shop shop.py
        $ tidemill app upgrade-check shop-v1.py shop-v2.py:orders
    """
    from tidemill.runtime.upgrade import judge
    from tidemill.topology.compatibility import Verdict

    judgements = judge(_note(old, state_dir), _note(new, state_dir))
    shown = [
        item
        for item in judgements
        if everything or item.kind in ("store", "plan") or item.reason != "nothing changed"
    ]
    rows = [{**asdict(item), "verdict": _WORDS.get(item.verdict, str(item.verdict))} for item in shown]
    columns = [
        Column("kind", "KIND"),
        Column("name", "NAME"),
        Column("verdict", "VERDICT"),
        Column("reason", "WHY"),
    ]
    session.out.rows(columns, rows, empty="Nothing changed, and there is no state.")
    bad = [item for item in judgements if item.stands_in_the_way]
    if not bad:
        session.out.note("The state survives.")
        return
    refused = any(item.verdict is Verdict.REFUSED for item in bad)
    session.out.note(
        "The state does not survive: "
        + ("keep the old names, or reset the app." if refused else "reset the app, or use another id.")
    )
    raise typer.Exit(ExitCode.FAILED)


_WORDS = {"kept": "keep"}


def _note(where: str, state_dir: Path | None) -> Note:
    from tidemill.runtime.checkpoint import Checkpoint, Note
    from tidemill.runtime.known import find_app

    if where.endswith(".json"):
        return _of_json(Path(where))
    place = where.rpartition(":")[0] or where
    if not place.endswith(".py"):
        try:
            known = find_app(where, state_dir)
        except NotFound as missing:
            try:
                return Note.of(load_topology(where), 0)
            except NotFound:
                raise missing from None
        note = Checkpoint(known.folder, "").read()
        if note is None:
            raise NotFound(f"the app `{where}` has no state", where=str(known.folder))
        return note
    return Note.of(load_topology(where), 0)


def _of_json(path: Path) -> Note:
    """The note of an app's folder, copied from anywhere."""
    from tidemill.runtime.checkpoint import Note

    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Note.of_json(data)
    except FileNotFoundError as error:
        raise NotFound("there is no such file", where=str(path)) from error
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(
            "this is not the app.json of an app's folder",
            where=str(path),
            remedy="give an app.json, a Python file, or an application id",
        ) from error
