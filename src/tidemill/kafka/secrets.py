"""Secrets: values that are never printed, and the placeholders that stand for them in settings."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tidemill.errors import UsageError

MASK = "***"

_PLACEHOLDER = re.compile(r"\$\{(env|file|dir):([^}]*)\}")
_SECRET_NAME = re.compile(
    r"(password|passphrase|secret|jaas\.config|api\.?key|token(?!\.endpoint)|credentials?|(^|\.)ssl\.key\.pem|keystore\.key)$",
    re.IGNORECASE,
)


class Secret:
    """A value that shows itself only when asked to.

    >>> password = Secret("hunter2")
    >>> print(password, repr(password))
    *** Secret(***)
    >>> password.reveal()
    'hunter2'
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __str__(self) -> str:
        return MASK

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a Secret is not serialised; send the placeholder and resolve it at the other end")


def is_secret_name(name: str) -> bool:
    """Whether the value of a setting of this name is kept from view.

    >>> is_secret_name("sasl.password"), is_secret_name("ssl.ca.location")
    (True, False)
    """
    return _SECRET_NAME.search(name) is not None


def has_placeholder(value: str) -> bool:
    """Whether the value holds a `${env:..}`, `${file:..}` or `${dir:..}` placeholder."""
    return _PLACEHOLDER.search(value) is not None


def resolve_placeholders(value: str, *, setting: str) -> str:
    """Replace every placeholder by what it stands for; done last, right before a client is made.

    `${env:NAME}` is an environment variable, `${file:PATH}` the content of a file, `${file:PATH:key}` one key
    of a properties file, `${dir:PATH:name}` the content of the file `name` in a directory.
    """
    return _PLACEHOLDER.sub(lambda match: _resolve(match[1], match[2], setting), value)


def _resolve(kind: str, rest: str, setting: str) -> str:
    if kind == "env":
        found = os.environ.get(rest)
        if found is None:
            raise UsageError(
                f"the environment variable `{rest}` is not set",
                where=f"setting `{setting}`",
                remedy=f"export {rest}=...",
            )
        return found
    path, separator, key = rest.rpartition(":")
    if kind == "dir":
        return _read(Path(path, key), setting)
    if not separator:
        return _read(Path(rest), setting)
    from tidemill.kafka.properties import parse_properties

    properties = parse_properties(_read(Path(path), setting, strip=False), origin=path)
    if key not in properties:
        raise UsageError(
            f"the file `{path}` has no key `{key}`",
            where=f"setting `{setting}`",
            remedy=f"add `{key}=...` to it",
        )
    return properties[key]


def _read(path: Path, setting: str, *, strip: bool = True) -> str:
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"the file `{path}` cannot be read: {error.strerror}",
            where=f"setting `{setting}`",
            remedy="correct the path, or the rights of the file",
        ) from error
    return text.rstrip("\r\n") if strip else text
