"""The bytes of our Python codecs are those of Kafka's own Java classes."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from tidemill import serdes
from tidemill.serde import Serde, Windowed

sys.path.insert(0, str(Path(__file__).parents[1]))  # where the package `oracle` lives

jvm = pytest.importorskip("oracle.jvm")

_SERIALIZATION = "org.apache.kafka.common.serialization"
_UUID = uuid.UUID("123e4567-e89b-12d3-a456-426614174000")

PRIMITIVES = [
    (serdes.string, "String", "java.lang.String", "Grüße 🌊"),
    (serdes.int, "Integer", "java.lang.Integer", -2),
    (serdes.long, "Long", "java.lang.Long", 2**40 + 1),
    (serdes.short, "Short", "java.lang.Short", -300),
    (serdes.float, "Float", "java.lang.Float", 2.5),
    (serdes.double, "Double", "java.lang.Double", -1e300),
    (serdes.boolean, "Boolean", "java.lang.Boolean", True),
    (serdes.uuid, "UUID", "java.util.UUID", _UUID),
]


@pytest.mark.parametrize(("serde", "java", "kind", "value"), PRIMITIVES, ids=lambda p: str(p)[:12])
def test_primitive_has_the_bytes_of_java(serde: Serde, java: str, kind: str, value: Any) -> None:
    theirs = jvm.java_class(f"{_SERIALIZATION}.{java}Serializer")().serialize("t", _boxed(kind, value))
    assert serde.encode(value) == bytes(theirs)
    assert serde.decode(bytes(theirs)) == value


LISTS = [
    (serdes.long, "Long", "java.lang.Long", [1, None, 3]),
    (serdes.long, "Long", "java.lang.Long", []),
    (serdes.uuid, "UUID", "java.util.UUID", [_UUID]),
    (serdes.string, "String", "java.lang.String", ["a", None, "", "bcd"]),
]


@pytest.mark.parametrize(("inner", "java", "kind", "values"), LISTS, ids=lambda p: str(p)[:12])
def test_list_has_the_bytes_of_java(inner: Serde, java: str, kind: str, values: list[Any]) -> None:
    array = jvm.java_class("java.util.ArrayList")
    items = array()
    for value in values:
        items.add(None if value is None else _boxed(kind, value))
    codec = jvm.java_class(f"{_SERIALIZATION}.Serdes").ListSerde(
        array.class_, getattr(jvm.java_class(f"{_SERIALIZATION}.Serdes"), java)()
    )
    theirs = bytes(codec.serializer().serialize("t", items))
    assert serdes.list_of(inner).encode(values) == theirs
    assert serdes.list_of(inner).decode(theirs) == values


def test_time_windowed_key_has_the_bytes_of_java() -> None:
    text = jvm.java_class(f"{_SERIALIZATION}.StringSerializer")()
    key = jvm.dsl("Windowed")(
        _boxed("java.lang.String", "oslo"), jvm.dsl("internals.TimeWindow")(5000, 15_000)
    )
    theirs = bytes(jvm.dsl("TimeWindowedSerializer")(text).serialize("t", key))
    ours = serdes.time_windowed(serdes.string, "10 s")
    assert ours.encode(Windowed("oslo", 5000, 15_000)) == theirs
    assert ours.decode(theirs) == Windowed("oslo", 5000, 15_000)


def test_session_windowed_key_has_the_bytes_of_java() -> None:
    text = jvm.java_class(f"{_SERIALIZATION}.StringSerializer")()
    key = jvm.dsl("Windowed")(
        _boxed("java.lang.String", "oslo"), jvm.dsl("internals.SessionWindow")(5000, 9000)
    )
    theirs = bytes(jvm.dsl("SessionWindowedSerializer")(text).serialize("t", key))
    ours = serdes.session_windowed(serdes.string)
    assert ours.encode(Windowed("oslo", 5000, 9000)) == theirs
    assert ours.decode(theirs) == Windowed("oslo", 5000, 9000)


def _boxed(kind: str, value: Any) -> Any:
    java = jvm.java_class(kind)
    if kind == "java.util.UUID":
        return java.fromString(str(value))
    return java(value) if kind == "java.lang.String" else java.valueOf(value)
