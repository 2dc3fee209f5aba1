"""Keys of windowed tables: the inner key's bytes with times behind them."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidemill.engine.serdes.form import Form, form_of, runs
from tidemill.engine.serdes.jvm import call
from tidemill.serde.base import Serde
from tidemill.serde.windowed import SessionWindowedSerde, TimeWindowedSerde


class _WindowedForm(Form):
    def is_python(self, serde: Any, /) -> bool:
        return form_of(serde.inner).is_python(serde.inner)


@runs(TimeWindowedSerde)
class TimeWindowedForm(_WindowedForm):
    """The key and the start; the end follows from the size."""

    def decode(self, serde: TimeWindowedSerde, data: Column, /) -> Column:
        tail = window_bytes(serde)
        start = _time(data, tail)
        no_end = F.lit(None).cast("timestamp")
        end = no_end if serde.size is None else _time(data, tail, serde.size)
        is_whole = start.isNotNull() if serde.size is None else end.isNotNull()
        return _windowed(serde.inner, data, tail, start, end, is_whole)

    def encode(self, serde: TimeWindowedSerde, value: Column, /) -> Column:
        made = _bytes(serde.inner, value, value["start"])
        return F.concat(made, F.lit(bytes(_NUMBER))) if serde.changelog else made


@runs(SessionWindowedSerde)
class SessionWindowedForm(_WindowedForm):
    """The key, the session's end and its start."""

    def decode(self, serde: SessionWindowedSerde, data: Column, /) -> Column:
        start, end = _time(data, _TIME), _time(data, 2 * _TIME)
        return _windowed(serde.inner, data, 2 * _TIME, start, end, start.isNotNull() & end.isNotNull())

    def encode(self, serde: SessionWindowedSerde, value: Column, /) -> Column:
        return _bytes(serde.inner, value, value["end"], value["start"])


def window_bytes(serde: Serde) -> int:
    """How many bytes of a key tell its window; 0 where it has none."""
    match serde:
        case TimeWindowedSerde(changelog=changelog):
            return _TIME + _NUMBER if changelog else _TIME
        case SessionWindowedSerde():
            return 2 * _TIME
    return 0


#: The bytes of a time, and of the number behind it in a changelog.
_TIME, _NUMBER = 8, 4


def _windowed(inner: Serde, data: Column, tail: int, start: Column, end: Column, is_whole: Column) -> Column:
    part = call("Keys.head", "binary", (data, "binary"), (F.lit(tail), "int"))
    key = form_of(inner).decode(inner, part)
    value = F.struct(key.alias("key"), start.alias("start"), end.alias("end"))
    return F.when(is_whole & (key.isNotNull() | form_of(inner).means_null(inner, part)), value)


def _time(data: Column, from_end: int, plus: int = 0) -> Column:
    numbers = ((F.lit(from_end), "int"), (F.lit(plus).cast("long"), "bigint"))
    return call("Keys.time", "timestamp", (data, "binary"), *numbers)


def _bytes(inner: Serde, value: Column, *times: Column) -> Column:
    key = F.coalesce(form_of(inner).encode(inner, value["key"]), F.lit(b""))
    tail = (call("Numbers.writeLong", "binary", (F.unix_millis(time), "bigint")) for time in times)
    return F.when(value.isNotNull(), F.concat(key, *tail))
