"""What every serde has in common: a name, the Spark type of its values, and a Python codec."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from tidemill.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Serde:
    """How keys or values become bytes. The engine turns the declaration into Spark expressions.

    `name` is the format, `schema` the Spark type (DDL) of a decoded value, empty where only Spark can tell.
    `encode` and `decode` do in plain Python what the engine does in Spark; the test driver and the command
    line use them.
    """

    name: str
    schema: str

    def encode(self, value: Any) -> bytes | None:
        """The bytes of one value; None stays None (a tombstone)."""
        if value is None:
            return None
        try:
            return self._to_bytes(value)
        except SerdeError:
            raise
        except Exception as error:  # whatever a codec raises means the same to the caller
            raise SerdeError(f"{value!r} is no {self.name} value: {error}", value=value) from error

    def decode(self, data: bytes | None) -> Any:
        """The value of some bytes; None stays None."""
        if data is None:
            return None
        try:
            return self._from_bytes(bytes(data))
        except SerdeError:
            raise
        except Exception as error:
            raise SerdeError(f"these bytes are no {self.name} value: {error}", value=data) from error

    def to_json(self) -> dict[str, Any]:
        """The declaration as plain data, for plans."""
        named = ((field.name, getattr(self, field.name)) for field in fields(self) if field.compare)
        rest = {name: item.to_json() if isinstance(item, Serde) else item for name, item in named}
        return {"format": rest.pop("name"), **{name: item for name, item in rest.items() if item is not None}}

    def _to_bytes(self, value: Any) -> bytes:
        raise SerdeError(f"the {self.name} serde has no Python encoder: only Spark encodes it", value=value)

    def _from_bytes(self, data: bytes) -> Any:
        raise SerdeError(f"the {self.name} serde has no Python decoder: only Spark decodes it", value=data)


class SerdeError(UsageError):
    """A value that does not fit its serde, bytes that do not, or a schema that is none."""

    code = "SERDE"

    def __init__(self, what: str, *, value: Any = None, remedy: str | None = None) -> None:
        super().__init__(what, remedy=remedy)
        self.value = value
