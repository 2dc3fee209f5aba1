"""A serde of the user's own, in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tidemill.serde.base import Serde
from tidemill.serde.schema import ddl_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomSerde(Serde):
    """Two Python functions; the engine runs them as Arrow UDFs, at the price of Python."""

    encoder: Callable[[Any], bytes] = field(compare=False)
    decoder: Callable[[bytes], Any] = field(compare=False)

    def _to_bytes(self, value: Any) -> bytes:
        return self.encoder(value)

    def _from_bytes(self, data: bytes) -> Any:
        return self.decoder(data)


def custom(
    name: str, schema: Any, *, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]
) -> CustomSerde:
    """A serde of your own; `name` stands for it in plans, so change it when the format changes.

    >>> hexed = custom("hex", str, encode=lambda text: bytes.fromhex(text), decode=lambda data: data.hex())
    >>> hexed.encode("c0ffee"), hexed.decode(b"\\xff")
    (b'\\xc0\\xff\\xee', 'ff')
    """
    return CustomSerde(name=name, schema=ddl_of(schema), encoder=encode, decoder=decode)
