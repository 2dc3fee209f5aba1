"""What went wrong, where, and what to do: the one family of errors users meet.

Every error carries data (`what`, `where`, `remedy`, a stable `code` and the exit code of the command line);
its text is built from them. The command line prints the text alone and adds the trace on `--verbose`.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the `tidemill` command."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    DENIED = 4
    UNREACHABLE = 5
    VERIFICATION_FAILED = 6
    INTERRUPTED = 130


class TidemillError(Exception):
    """Base of all errors Tidemill raises on purpose.

    >>> error = TidemillError("the topic `orders` does not exist", where="127.0.0.1:9092",
    ...                       remedy="create it with `tidemill topics create orders`")
    >>> print(error)
    the topic `orders` does not exist (127.0.0.1:9092)
    Remedy: create it with `tidemill topics create orders`
    """

    code = "TIDEMILL"
    exit_code = ExitCode.FAILED

    def __init__(self, what: str, *, where: str | None = None, remedy: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        text = self.what if self.where is None else f"{self.what} ({self.where})"
        return text if self.remedy is None else f"{text}\nRemedy: {self.remedy}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.__dict__))


class UsageError(TidemillError):
    """The call itself is wrong: an option, a name, a value."""

    code = "USAGE"
    exit_code = ExitCode.USAGE


class NotFound(TidemillError):
    """A named thing (topic, group, app, file) does not exist."""

    code = "NOT_FOUND"
    exit_code = ExitCode.NOT_FOUND


class AccessDenied(TidemillError):
    """Wrong credentials, or credentials that lack the right."""

    code = "DENIED"
    exit_code = ExitCode.DENIED


class Unreachable(TidemillError):
    """A server did not answer, or not in time."""

    code = "UNREACHABLE"
    exit_code = ExitCode.UNREACHABLE


class VerificationFailed(TidemillError):
    """A check the user asked for did not hold; nothing was changed."""

    code = "VERIFICATION_FAILED"
    exit_code = ExitCode.VERIFICATION_FAILED


class SetupError(TidemillError):
    """This machine lacks something: Java, a jar, disk space, a free port."""

    code = "SETUP"


def _rebuild(kind: type[TidemillError], state: dict[str, object]) -> TidemillError:
    error = kind.__new__(kind)
    error.__dict__.update(state)
    error.args = (state["what"],)
    return error
