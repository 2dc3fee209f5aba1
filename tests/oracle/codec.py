"""Values on their way between Python and Java: real serdes, so that stores hold what a user's would."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jpype

from oracle.jvm import dsl, java_class
from oracle.spec import LONG, STRING


@dataclass(frozen=True)
class Codec:
    """One value type: its serde, and both directions; null is None."""

    serde: Any
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]

    def to_java(self, value: Any) -> Any:
        return None if value is None else self.encode(value)

    def to_python(self, value: Any) -> Any:
        return None if value is None else self.decode(value)


@cache
def codec(value_type: str) -> Codec:
    serdes = java_class("org.apache.kafka.common.serialization.Serdes")
    long, string = java_class("java.lang.Long"), java_class("java.lang.String")
    if value_type == LONG:
        return Codec(serdes.Long(), lambda v: jpype.JObject(v, long), int)
    if value_type == STRING:
        return Codec(serdes.String(), string, str)
    return Codec(
        serdes.String(),
        lambda v: string(json.dumps(v, sort_keys=True)),
        lambda text: json.loads(str(text)),
    )


def key_to_python(key: Any) -> Any:
    """A plain key is its text, a windowed one (key, start, end)."""
    if key is None:
        return None
    if isinstance(key, dsl("Windowed")):
        return (str(key.key()), int(key.window().start()), int(key.window().end()))
    return str(key)


def key_to_sink(key: Any) -> Any:
    """Windowed keys leave as JSON, so that one string serde serves every output topic."""
    return codec(STRING).to_java(json.dumps(key_to_python(key)))


def key_from_sink(text: Any, windowed: bool) -> Any:
    if text is None:
        return None
    return tuple(json.loads(str(text))) if windowed else str(text)
