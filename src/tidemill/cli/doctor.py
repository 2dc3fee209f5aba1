"""`tidemill doctor`: check this machine and the cluster, and say what to do."""

from __future__ import annotations

from typing import Any

import typer

from tidemill.cli.help import Command, single
from tidemill.cli.options import session
from tidemill.cli.output import Column
from tidemill.cli.session import Session
from tidemill.errors import ExitCode

app = single()

_MARKS = {"ok": ("✓", "32"), "warn": ("!", "33"), "fail": ("✗", "31")}


@app.command("doctor", cls=Command)
@session
def doctor(session: Session) -> None:
    """Check this machine and the cluster, and say what to do; exit code 1 if something is broken.

    Example:

        $ tidemill doctor
        $ tidemill doctor -b kafka.example.com:9092 -O json
    """
    from tidemill.cli.checks import all_checks

    found = []
    for check in all_checks(session):
        row = {"check": check.name, "status": check.status, "detail": check.detail, "remedy": check.remedy}
        found.append(row)
        if session.out.on_terminal and not session.out.is_data:
            _draw(session, row)
    if session.out.is_data or not session.out.on_terminal:
        columns = [
            Column("status", "STATUS"),
            Column("check", "CHECK"),
            Column("detail", "DETAIL"),
            Column("remedy", "REMEDY"),
        ]
        session.out.rows(columns, found)
    if any(row["status"] == "fail" for row in found):
        raise typer.Exit(ExitCode.FAILED)


def _draw(session: Session, row: dict[str, Any]) -> None:
    mark, style = _MARKS[row["status"]]
    painted = f"\033[{style}m{mark}\033[0m" if session.out.color else mark
    session.out.line(f" {painted} {row['check']:<12} {row['detail']}")
    if row["remedy"] and row["status"] != "ok":
        session.out.line(f"   {'':<12} → {row['remedy']}")
