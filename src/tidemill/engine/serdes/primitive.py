"""Single values: all of them native."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidemill.engine.serdes.form import Form, runs
from tidemill.engine.serdes.jvm import call
from tidemill.serde.primitive import BooleanSerde, BytesSerde, NumberSerde, StringSerde, UuidSerde, VoidSerde


@runs(StringSerde)
class StringForm(Form):
    """UTF-8; other bytes are broken."""

    def decode(self, _serde: Any, data: Column, /) -> Column:
        return F.try_validate_utf8(data.cast("string"))

    def encode(self, _serde: Any, value: Column, /) -> Column:
        return value.cast("string").cast("binary")


@runs(BytesSerde)
class BytesForm(Form):
    """As they are."""

    reads_everything = True

    def decode(self, _serde: Any, data: Column, /) -> Column:
        return data

    def encode(self, _serde: Any, value: Column, /) -> Column:
        return value.cast("binary")


@runs(NumberSerde)
class NumberForm(Form):
    """Big-endian bytes; another number of them is broken."""

    def decode(self, serde: NumberSerde, data: Column, /) -> Column:
        return call(f"Numbers.read{serde.name.title()}", serde.schema, (data, "binary"))

    def encode(self, serde: NumberSerde, value: Column, /) -> Column:
        typed = value.cast(serde.schema)
        return call(f"Numbers.write{serde.name.title()}", "binary", (typed, serde.schema))


@runs(BooleanSerde)
class BooleanForm(Form):
    """One byte, 0 or 1."""

    def decode(self, _serde: Any, data: Column, /) -> Column:
        return F.when(data == F.lit(b"\x01"), F.lit(True)).when(data == F.lit(b"\x00"), F.lit(False))

    def encode(self, _serde: Any, value: Column, /) -> Column:
        return F.when(value, F.lit(b"\x01")).when(~value, F.lit(b"\x00"))


@runs(UuidSerde)
class UuidForm(Form):
    """The text of a UUID, in lower case."""

    def decode(self, _serde: Any, data: Column, /) -> Column:
        return call("Keys.readUuid", "string", (data, "binary"))

    def encode(self, _serde: Any, value: Column, /) -> Column:
        return call("Keys.writeUuid", "binary", (value.cast("string"), "string"))


@runs(VoidSerde)
class VoidForm(Form):
    """Null, whatever the bytes."""

    reads_everything = True

    def decode(self, _serde: Any, _data: Column, /) -> Column:
        return F.lit(None).cast("void")

    def encode(self, _serde: Any, _value: Column, /) -> Column:
        return F.lit(None).cast("binary")

    def means_null(self, _serde: Any, _data: Column, /) -> Column:
        return F.lit(True)
