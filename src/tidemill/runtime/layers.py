"""Where configuration comes from: command line, code, environment, a file; the first that speaks wins."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from tidemill.errors import NotFound, UsageError
from tidemill.kafka.settings import Settings
from tidemill.runtime.config import AppConfig, is_known, parse_config

_PREFIX = "TIDEMILL_"


def load_config(
    application_id: str,
    given: Mapping[str, Any],
    *,
    file: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> AppConfig:
    """The configuration of an app from all layers.

    `given` has dotted or snake_case names; dicts in it (`config`, `spark_conf`) have dotted ones.

    >>> config = load_config("app", {"commit_interval_ms": 200, "bootstrap_servers": "k:9092"}, environ={})
    >>> config.commit_interval_ms, config.settings.bootstrap_servers
    (200, 'k:9092')
    """
    environ = os.environ if environ is None else environ
    code = Settings.of(dict(_named(given)), source="code")
    environment = Settings.of(dict(_of_environment(environ)), source="environment")
    over, under = _command_line.get()
    layers = over.over(code).over(environment)
    chosen = file or environ.get(f"{_PREFIX}APP_CONFIG")
    if chosen:
        layers = layers.over(read_config_file(Path(chosen)))
    if "bootstrap.servers" not in layers:
        # Only as a whole: logins of one cluster are not for another.
        layers = layers.over(under)
    return parse_config(application_id, layers)


@contextmanager
def command_line(*, over: Settings, under: Settings) -> Iterator[None]:
    """Apps made inside get settings that win over their program's, and a cluster where it names none."""
    token = _command_line.set((over, under))
    try:
        yield
    finally:
        _command_line.reset(token)


_command_line: ContextVar[tuple[Settings, Settings]] = ContextVar(
    "command_line", default=(Settings(), Settings())
)


def _named(given: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in given.items():
        if value is None:
            continue
        if name in ("config", "spark_conf"):
            yield from value.items()
        else:
            yield (name if "." in name else name.replace("_", ".")), value


def _of_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for variable, value in environ.items():
        name = variable.removeprefix(_PREFIX).lower().replace("_", ".")
        if variable.startswith(_PREFIX) and is_known(name):
            yield name, value
        elif variable == f"{_PREFIX}BOOTSTRAP_SERVER":
            yield "bootstrap.servers", value


def read_config_file(path: Path) -> Settings:
    """The settings in a TOML file."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotFound("there is no such configuration file", where=str(path)) from error
    except OSError as error:
        raise UsageError(f"the configuration cannot be read: {error.strerror}", where=str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the configuration is not valid TOML: {error}", where=str(path)) from error
    return Settings.of(dict(_flat(table)), source=str(path))


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            dotted = f"{prefix}{name}"
            yield (dotted if "." in dotted else dotted.replace("_", ".")), value
