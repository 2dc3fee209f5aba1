"""Serdes as Spark expressions: bytes to typed values and back, in native code wherever there is some."""

from __future__ import annotations

from pyspark.sql import Column

from tidemill.engine.serdes import avro, keys, lists, primitive, python, structured
from tidemill.engine.serdes.defaults import default_serde
from tidemill.engine.serdes.form import form_of
from tidemill.engine.serdes.keys import window_bytes
from tidemill.serde.base import Serde

__all__ = [
    "decode",
    "default_serde",
    "encode",
    "is_broken",
    "reads_everything",
    "runs_python",
    "window_bytes",
]


def decode(serde: Serde, data: Column) -> Column:
    """The typed value of a binary Column. What does not parse becomes null: see `is_broken`."""
    return form_of(serde).decode(serde, data)


def encode(serde: Serde, value: Column) -> Column:
    """The binary Column of a typed value; null stays null, a value that does not fit fails the query."""
    return form_of(serde).encode(serde, value)


def is_broken(serde: Serde, data: Column, value: Column) -> Column:
    """Whether bytes were there, but no value came out of them; `value` is what `decode` made of `data`."""
    return data.isNotNull() & value.isNull() & ~form_of(serde).means_null(serde, data)


def reads_everything(serde: Serde) -> bool:
    """Whether no bytes are broken for a serde."""
    return form_of(serde).reads_everything


def runs_python(serde: Serde) -> bool:
    """Whether Spark hands the records to Python for this serde: slower, and not in real-time mode."""
    return form_of(serde).is_python(serde)


_ROOMS = (primitive, structured, lists, keys, avro, python)  # importing them fills the table of forms
