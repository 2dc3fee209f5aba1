"""`tidemill version`: Tidemill and what it stands on."""

from __future__ import annotations

from tidemill.cli.help import Command, single
from tidemill.cli.options import session
from tidemill.cli.session import Session

app = single()

_PACKAGES = ("pyspark", "confluent-kafka", "typer", "rich")


@app.command("version", cls=Command)
@session
def version(session: Session) -> None:
    """Print the versions of Tidemill and what it stands on.

    Example:

        $ tidemill version
        $ tidemill version -O json
    """
    import platform

    from tidemill import __version__

    data = {"tidemill": __version__, "python": platform.python_version()}
    data.update({name: package_version(name) for name in _PACKAGES})

    def show() -> None:
        session.out.line(f"tidemill {data['tidemill']}")
        if session.out.on_terminal or session.out.form is not None:
            for name, found in list(data.items())[1:]:
                session.out.line(f"  {name} {found}")

    session.out.document(data, show)


def package_version(name: str) -> str:
    """The version of an installed package, without importing it."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed(name)
    except PackageNotFoundError:
        return "not installed"
