"""What every serde has in common: a name, the Spark type of its values, and a Python codec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tidemill.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Serde:
    """How keys or values become bytes. The engine turns the declaration into Spark expressions.

    `name` is the format, `schema` the Spark type (DDL) of a decoded value. `encode` and `decode` do in plain
    Python what the engine does in Spark; the test driver and the command line use them.
    """

    name: ClassVar[str] = "serde"
    schema: str

    def encode(self, value: Any) -> bytes | None:
        """The bytes of one value; None stays None (a tombstone)."""
        return None if value is None else self._to_bytes(value)

    def decode(self, data: bytes | None) -> Any:
        """The value of some bytes; None stays None."""
        return None if data is None else self._from_bytes(data)

    def to_json(self) -> dict[str, Any]:
        """The declaration as plain data, for plans."""
        return {"format": self.name, "schema": self.schema}

    def _to_bytes(self, value: Any) -> bytes:
        raise SerdeError(f"the {self.name} serde has no Python encoder: Spark encodes it", value=value)

    def _from_bytes(self, data: bytes) -> Any:
        raise SerdeError(f"the {self.name} serde has no Python decoder: Spark decodes it", value=data)


class SerdeError(UsageError):
    """A value that does not fit its serde, or bytes that do not."""

    code = "SERDE"

    def __init__(self, what: str, *, value: Any = None, remedy: str | None = None) -> None:
        super().__init__(what, remedy=remedy)
        self.value = value
