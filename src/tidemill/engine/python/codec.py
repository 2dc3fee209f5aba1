"""How the keys and values of stores become bytes: by their serde, or as JSON where none was declared."""

from __future__ import annotations

import json
from typing import Any, Protocol

from tidemill.serde.base import Serde, SerdeError


class Codec(Protocol):
    """Values to bytes and back; serdes are such codecs."""

    def encode(self, value: Any) -> bytes | None:
        """The bytes of a value."""

    def decode(self, data: bytes | None) -> Any:
        """The value of some bytes."""


class PlainCodec:
    """Text, numbers, lists and dicts as JSON: what a store without a serde can hold."""

    def encode(self, value: Any) -> bytes | None:
        """The bytes of a value; None stays None."""
        if value is None:
            return None
        try:
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
        except (TypeError, ValueError) as error:
            raise SerdeError(
                f"{type(value).__name__} has no JSON form, and the store has no serde",
                value=value,
                remedy="declare the store with key= and value= serdes",
            ) from error

    def decode(self, data: bytes | None) -> Any:
        """The value of some bytes; None stays None."""
        return None if data is None else json.loads(data)


def codec(serde: Serde | None) -> Codec:
    """The codec of a declared serde."""
    return PlainCodec() if serde is None else serde


def required(what: str, store: str, data: bytes | None) -> bytes:
    """The bytes of a key, which may not be None."""
    if data is None:
        raise SerdeError(f"the {what} of an entry of `{store}` is None", remedy="stores have no null keys")
    return data
