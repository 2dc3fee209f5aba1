"""Named sets of settings in `~/.config/tidemill/config.toml`, one per cluster.

The file is edited line by line, so that comments and order survive `tidemill config set`.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tidemill.errors import NotFound, UsageError
from tidemill.kafka.settings import Settings

_SECTION = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?")
_NAME = re.compile(r"[A-Za-z0-9_-]+")


def config_path() -> Path:
    """Where the configuration file is: `TIDEMILL_CONFIG`, else below `XDG_CONFIG_HOME`, else `~/.config`."""
    explicit = os.environ.get("TIDEMILL_CONFIG")
    if explicit:
        return Path(explicit).expanduser()
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "tidemill" / "config.toml"


def profile_names(path: Path | None = None) -> list[str]:
    """The profiles of the configuration file."""
    return sorted(_read(path or config_path()).get("profiles", {}))


def default_profile(path: Path | None = None) -> str | None:
    """The profile used when none is named: the top-level `profile` of the file."""
    name = _read(path or config_path()).get("profile")
    return None if name is None else str(name)


def load_profile(name: str, path: Path | None = None) -> Settings:
    """The settings of a profile."""
    path = path or config_path()
    profiles = _read(path).get("profiles", {})
    if name not in profiles:
        known = ", ".join(f"`{known}`" for known in sorted(profiles)) or "none yet"
        raise NotFound(
            f"there is no profile `{name}`; known: {known}",
            where=str(path),
            remedy=f"make it with `tidemill config set bootstrap.servers HOST:PORT --profile {name}`",
        )
    return Settings.of(_flatten(profiles[name]), source=f"profile {name}")


def set_value(name: str, value: str, *, profile: str | None, path: Path | None = None) -> Path:
    """Write one setting of a profile (or a top-level one), keeping the rest of the file as it is."""
    path = path or config_path()
    if profile is not None and not _NAME.fullmatch(profile):
        raise UsageError(f"`{profile}` is not a profile name", remedy="use letters, digits, - and _")
    before = _read(path)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = _with_value(text.splitlines(), f"profiles.{profile}" if profile else None, name, value)
    after = "\n".join(lines) + "\n"
    try:
        tomllib.loads(after)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"`{name}` cannot be set beside what the file has: {error}",
            where=str(path),
            remedy='write the names in the file in quotes, as in "sasl.username" = "ann"',
        ) from error
    _keep_private(path, after, exists=bool(before))
    return path


def _keep_private(path: Path, text: str, *, exists: bool) -> None:
    if not exists:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(path.name + ".new")
    temporary.touch(mode=0o600)
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def _with_value(lines: list[str], section: str | None, name: str, value: str) -> list[str]:
    entry = f"{name if _NAME.fullmatch(name) else json.dumps(name)} = {json.dumps(value, ensure_ascii=False)}"
    current: str | None = None
    insert_at = 0 if section is None else None
    for index, line in enumerate(lines):
        match = _SECTION.fullmatch(line)
        if match:
            current = match[1].replace('"', "")
        elif current == section and _key_of(line) == name:
            return [*lines[:index], entry, *lines[index + 1 :]]
        if current == section and (match or _key_of(line) is not None):
            insert_at = index + 1
    if insert_at is None:
        gap = [""] if lines and lines[-1].strip() else []
        return [*lines, *gap, f"[{section}]", entry]
    return [*lines[:insert_at], entry, *lines[insert_at:]]


def _key_of(line: str) -> str | None:
    key, separator, _ = line.partition("=")
    return (
        key.strip().replace('"', "").replace("'", "")
        if separator and not line.lstrip().startswith("#")
        else None
    )


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            flat.update(_flatten(value, f"{prefix}{name}."))
        else:
            flat[prefix + name] = value
    return flat


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"the configuration cannot be read: {error.strerror}", where=str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"the configuration is not valid TOML: {error}", where=str(path), remedy="correct that line"
        ) from error
