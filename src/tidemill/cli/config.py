"""`tidemill config`: which settings are used, where they come from, and saving them in profiles."""

from __future__ import annotations

from typing import Annotated

import typer

from tidemill.cli.help import Command, group
from tidemill.cli.options import session
from tidemill.cli.output import Column
from tidemill.cli.session import Session

app = group("config", "Settings and profiles: what is used, and where it comes from.")


@app.command("show", cls=Command)
@session
def show(session: Session) -> None:
    """Show the settings in use, and where each comes from.

    Secrets are masked.

    Example:

        $ tidemill config show
        $ tidemill config show --profile prod -O json
    """
    rows = [
        {"setting": entry.name, "value": entry.shown, "source": entry.source}
        for entry in session.settings.entries()
    ]
    session.out.rows([Column("setting", "SETTING"), Column("value", "VALUE"), Column("source", "FROM")], rows)


@app.command("set", cls=Command)
@session
def set_value(
    session: Session,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A client setting, or `profile` for the default profile.")
    ],
    value: Annotated[
        str,
        typer.Argument(
            metavar="VALUE", help="Its value; ${env:NAME} and ${file:PATH} are resolved when used."
        ),
    ],
) -> None:
    """Save a setting in a profile.

    The profile is the one named by --profile, else the default one, else `default`.

    Example:

        $ tidemill config set bootstrap.servers kafka.example.com:9093 --profile prod
        $ tidemill config set sasl.password '${env:KAFKA_PASSWORD}' --profile prod
        $ tidemill config set profile prod
    """
    from tidemill.kafka import profiles
    from tidemill.kafka.secrets import has_placeholder, is_secret_name

    if name == "profile":
        profiles.load_profile(value)
        path = profiles.set_value("profile", value, profile=None)
        session.out.note(f"Profile {value} is the default now ({path}).")
        return
    chosen = session.options.profile or profiles.default_profile()
    path = profiles.set_value(name, value, profile=chosen or "default")
    if chosen is None:
        profiles.set_value("profile", "default", profile=None)
    session.out.note(f"Set {name} in profile {chosen or 'default'} ({path}).")
    if is_secret_name(name) and not has_placeholder(value):
        session.out.note("It is kept in clear there; '${env:NAME}' or '${file:PATH}' keeps it elsewhere.")


@app.command("path", cls=Command)
@session
def path(session: Session) -> None:
    """Print where the configuration file is.

    Example:

        $ $EDITOR $(tidemill config path)
    """
    from tidemill.kafka.profiles import config_path, profile_names

    where = config_path()
    data = {"path": str(where), "exists": where.exists(), "profiles": profile_names()}
    session.out.document(data, lambda: session.out.line(str(where)))
