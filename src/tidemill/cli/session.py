"""One run of a command: its common options, the settings they add up to, and the way to print."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tidemill.cli.output import Output, OutputFormat, confirm
from tidemill.errors import ExitCode, UsageError
from tidemill.kafka.settings import DEFAULT_BOOTSTRAP, Settings

if TYPE_CHECKING:
    from tidemill.kafka.admin import Admin


@dataclass
class Options:
    """The common options, as said before or after the command."""

    bootstrap_server: str | None = None
    command_config: Path | None = None
    setting: list[str] = field(default_factory=list)
    profile: str | None = None
    output: OutputFormat | None = None
    verbose: bool = False
    quiet: bool = False
    no_color: bool = False
    yes: bool = False
    words: tuple[str, ...] = ()
    """The whole command, as it was typed."""

    def take(self, other: dict[str, Any]) -> None:
        """Options said later win; settings add up."""
        for name, value in other.items():
            if name == "setting":
                self.setting = [*self.setting, *(value or [])]
            elif value:
                setattr(self, name, value)

    def copy(self) -> Options:
        return replace(self, setting=list(self.setting))

    @classmethod
    def names(cls) -> list[str]:
        return [item.name for item in fields(cls) if item.name != "words"]


class Session:
    """What a command works with."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.out = Output(options.output, color=not options.no_color, quiet=options.quiet)

    @cached_property
    def settings(self) -> Settings:
        """All settings, the strongest first: -b, -X, --command-config, environment, profile, dev cluster."""
        options = self.options
        named, environment = _profile(options.profile), _environment()
        layers = [environment, named] if options.profile else [named, environment]
        if options.command_config is not None:
            layers.append(Settings.from_file(options.command_config))
        layers.append(Settings.from_pairs(options.setting))
        if options.bootstrap_server:
            layers.append(Settings.of({"bootstrap.servers": options.bootstrap_server}, source="-b"))
        settings = functools.reduce(lambda lower, upper: upper.over(lower), layers)
        if "bootstrap.servers" not in settings:
            settings = settings.over(self.ambient)
        if options.verbose and settings.ignored():
            self.out.note(f"settings only Java knows, left out: {', '.join(settings.ignored())}")
        return settings

    @cached_property
    def ambient(self) -> Settings:
        """The cluster meant when nobody says: the running dev cluster, else this machine's usual port."""
        from tidemill.cli.devcluster import running_settings

        return running_settings() or Settings.of({"bootstrap.servers": DEFAULT_BOOTSTRAP}, source="default")

    @cached_property
    def admin(self) -> Admin:
        from tidemill.kafka.admin import Admin

        return Admin(self.settings, verbose=self.options.verbose)

    def with_settings(self, pairs: dict[str, object], *, source: str) -> Settings:
        """The settings with a command's own options on top."""
        given = {name: value for name, value in pairs.items() if value is not None}
        return Settings.of(given, source=source).over(self.settings)

    def confirm(self, question: str) -> None:
        """Go on only with a yes."""
        if not confirm(question, yes=self.options.yes):
            self.out.note("Nothing was changed.")
            raise typer.Exit(ExitCode.FAILED)


def parse_pairs(pairs: list[str] | None, *, option: str) -> dict[str, str]:
    """`name=value` words of an option as a dictionary."""
    found: dict[str, str] = {}
    for pair in pairs or []:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise UsageError(f"`{pair}` is not name=value", where=option, remedy=f"write {option} name=value")
        found[name] = value
    return found


def _environment() -> Settings:
    server = os.environ.get("TIDEMILL_BOOTSTRAP_SERVER")
    values = {"bootstrap.servers": server} if server else {}
    return Settings.of(values, source="TIDEMILL_BOOTSTRAP_SERVER")


def _profile(name: str | None) -> Settings:
    from tidemill.kafka.profiles import default_profile, load_profile

    name = name or os.environ.get("TIDEMILL_PROFILE") or default_profile()
    return load_profile(name) if name else Settings()
