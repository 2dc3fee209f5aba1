"""What commands on apps share: the app's name, where its state is, and the cluster it works on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemill.cli.session import Session

if TYPE_CHECKING:
    from tidemill.kafka.admin import Admin
    from tidemill.runtime.known import KnownApp


def app_names(ctx: Any, incomplete: str) -> list[str]:  # noqa: ARG001 -- the signature Typer calls
    """Apps that begin so, for the shell's completion."""
    from tidemill.runtime.known import find_apps

    return [app.application_id for app in find_apps() if app.application_id.startswith(incomplete)]


AppId = Annotated[
    str, typer.Argument(metavar="ID", help="Application id; see `app list`.", autocompletion=app_names)
]
StateDir = Annotated[
    Path | None,
    typer.Option(
        "--state-dir",
        metavar="DIR",
        help="Where apps keep their state; else state.dir, else the data folder.",
    ),
]


def admin_of(session: Session, known: KnownApp) -> Admin:
    """An admin client of the cluster the user names, else of the one the app was last seen on."""
    from tidemill.kafka.admin import Admin
    from tidemill.kafka.settings import Settings

    options = session.options
    said = options.bootstrap_server or options.setting or options.command_config or options.profile
    run = known.run()
    if said or os.environ.get("TIDEMILL_BOOTSTRAP_SERVER") or run is None or not run.settings:
        return session.admin
    return Admin(Settings.of(run.settings, source=str(known.folder)), verbose=options.verbose)
