"""Structured text: JSON by the kernel, CSV and XML by Spark's own functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from tidemill.engine.serdes.fit import fit
from tidemill.engine.serdes.form import Form, runs
from tidemill.engine.serdes.jvm import call, convert, java
from tidemill.engine.types import data_type
from tidemill.serde.base import SerdeError
from tidemill.serde.structured import CsvSerde, JsonSerde, XmlSerde


@runs(JsonSerde)
class JsonForm(Form):
    """Text that is one whole value of the schema, or broken."""

    def decode(self, serde: JsonSerde, data: Column, /) -> Column:
        return convert(data, "JsonReader", java(data_type(serde.schema)))

    def encode(self, serde: JsonSerde, value: Column, /) -> Column:
        return convert(fit(value, data_type(serde.schema)), "JsonWriter")

    def means_null(self, _serde: Any, data: Column, /) -> Column:
        return data.cast("string").rlike(r"^[ \t\r\n]*null[ \t\r\n]*$")


@runs(CsvSerde)
class CsvForm(Form):
    """One line with as many fields as the schema has."""

    def decode(self, serde: CsvSerde, data: Column, /) -> Column:
        options = {**_csv_options(serde), **_PERMISSIVE, "nullValue": _NO_TEXT}

        def parse(text: Column, type_: StructType) -> Column:
            ddl = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in type_)
            return F.from_csv(text, ddl, options)

        type_ = _struct(serde.schema)
        value = _whole(F.when(F.length(data) > 0, data), type_, parse)
        if len(type_) > 1:
            return value
        # An empty line is the null of a single field; Spark would read it as nulls however many there are.
        return F.when(F.length(data) == 0, F.struct(F.lit(None).alias(type_[0].name)).cast(type_)).otherwise(
            value
        )

    def encode(self, serde: CsvSerde, value: Column, /) -> Column:
        type_ = _struct(serde.schema)
        text = F.to_csv(fit(value, type_), {**_csv_options(serde), **_TIMES})
        if len(type_) == 1:  # Spark fails to write a line of nothing but one null
            text = F.when(value[type_[0].name].isNull(), F.lit("")).otherwise(text)
        return F.when(value.isNotNull(), text).cast("binary")


@runs(XmlSerde)
class XmlForm(Form):
    """One element of the row tag."""

    def decode(self, serde: XmlSerde, data: Column, /) -> Column:
        options = {"rowTag": serde.row_tag, **_PERMISSIVE, "ignoreSurroundingSpaces": "false"}
        whole = call("Xml.whole", "binary", (data, "binary"), (F.lit(serde.row_tag), "string"))
        return _whole(whole, _struct(serde.schema), lambda text, type_: F.from_xml(text, type_, options))

    def encode(self, serde: XmlSerde, value: Column, /) -> Column:
        fitted = fit(value, _struct(serde.schema))
        return F.when(value.isNotNull(), F.to_xml(fitted, {"rowTag": serde.row_tag, **_TIMES})).cast("binary")


#: The field Spark fills with text in which not everything fits.
_REST = "_tidemill_rest"
_PERMISSIVE = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _REST}

#: What an empty field without quotes is read as on the way to null; "" in quotes stays an empty text.
_NO_TEXT = "\0tidemill\0null\0"


def _csv_options(serde: CsvSerde) -> dict[str, str]:
    kept = {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
    return {"sep": serde.delimiter, "quote": '"', "escape": '"', **kept}


#: Spark would write milliseconds only; it reads every ISO form.
_TIMES = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def _whole(data: Column, type_: StructType, parse: Callable[[Column, StructType], Column]) -> Column:
    text = F.try_validate_utf8(data.cast("string"))
    with_rest = StructType([*type_.fields]).add(_REST, "string")
    parsed = parse(text, with_rest)
    fields = F.struct(*(parsed[field.name].alias(field.name) for field in type_))
    return F.when(parsed.isNotNull() & parsed[_REST].isNull(), fields)


def _struct(schema: str) -> StructType:
    type_ = data_type(schema)
    if not isinstance(type_, StructType):
        raise SerdeError(f"`{schema}` is not a list of fields", remedy="name the fields, as in `city STRING`")
    return type_
