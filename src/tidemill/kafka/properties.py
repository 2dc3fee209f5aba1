"""Java properties files, as `--command-config` and Kafka's own tools read them."""

from __future__ import annotations

import re
from pathlib import Path

from tidemill.errors import NotFound, UsageError

_PAIR = re.compile(r"((?:\\.|[^\\=:\s])+)\s*[=:\s]?\s*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


def read_properties(path: Path) -> dict[str, str]:
    """Read a properties file; a missing one is told with its path."""
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise NotFound(f"the file `{path}` does not exist", remedy="correct the path") from error
    except OSError as error:
        raise UsageError(f"the file `{path}` cannot be read: {error.strerror}") from error
    return parse_properties(text, origin=str(path))


def parse_properties(text: str, *, origin: str = "properties") -> dict[str, str]:
    r"""Parse properties text: comments, continued lines and escapes included.

    >>> parse_properties("# a comment\nsecurity.protocol = SSL\nssl.ca.location: /etc/\\\n    ca.pem\n")
    {'security.protocol': 'SSL', 'ssl.ca.location': '/etc/ca.pem'}
    """
    found: dict[str, str] = {}
    for number, line in _logical_lines(text):
        match = _PAIR.fullmatch(line)
        if match is None:
            raise UsageError(
                f"not a property: {line!r}", where=f"{origin}, line {number}", remedy="write `key=value`"
            )
        found[_unescape(match[1])] = _unescape(match[2])
    return found


def _logical_lines(text: str) -> list[tuple[int, str]]:
    lines: list[tuple[int, str]] = []
    start, pending = 0, ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.lstrip()
        if not pending:
            if not line or line[0] in "#!":
                continue
            start = number
        trailing = len(line) - len(line.rstrip("\\"))
        if trailing % 2:
            pending += line[:-1]
            continue
        lines.append((start, pending + line))
        pending = ""
    if pending:
        lines.append((start, pending))
    return lines


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        escape = match[1]
        return chr(int(escape[1:], 16)) if len(escape) == 5 else _NAMED.get(escape, escape)

    return _ESCAPE.sub(one, text)
