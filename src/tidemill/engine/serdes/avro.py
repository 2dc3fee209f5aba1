"""Avro, by Spark's own Avro code inside the kernel."""

from __future__ import annotations

from pyspark.sql import Column

from tidemill.engine.serdes.fit import fit
from tidemill.engine.serdes.form import Form, runs
from tidemill.engine.serdes.jvm import convert, java, registry
from tidemill.engine.types import data_type
from tidemill.serde.avro import AvroSerde


@runs(AvroSerde)
class AvroForm(Form):
    """The body alone, or behind a schema id: writers' schemas are looked up while the query runs."""

    def decode(self, serde: AvroSerde, data: Column, /) -> Column:
        lookup = None if serde.registry is None else registry(serde.registry, serde.authorization)
        return convert(data, "AvroReader", serde.known_schema, java(data_type(serde.schema)), lookup)

    def encode(self, serde: AvroSerde, value: Column, /) -> Column:
        fitted = fit(value, data_type(serde.schema))
        return convert(fitted, "AvroWriter", serde.known_schema, serde.schema_id())
