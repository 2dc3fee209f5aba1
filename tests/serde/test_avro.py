"""Avro: the Spark type of a schema, and the Python codec."""

from __future__ import annotations

import pytest

from tidemill import serdes
from tidemill.serde import SerdeError
from tidemill.serde.avro import avro_ddl

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "city", "type": ["null", "string"]},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["OPEN"]}},
        {"name": "tags", "type": {"type": "map", "values": "int"}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
        {"name": "either", "type": ["int", "string"]},
    ],
}


def test_spark_type_of_a_record() -> None:
    assert avro_ddl(ORDER) == (
        "struct<id:bigint,city:string,amount:decimal(9,2),at:timestamp,state:string,tags:map<string,int>,"
        "hash:binary,either:struct<member0:int,member1:string>>"
    )


@pytest.mark.parametrize(
    ("union", "ddl"), [(["int", "long"], "bigint"), (["null", "float", "double"], "double")]
)
def test_numbers_widen_in_a_union(union: list[str], ddl: str) -> None:
    assert avro_ddl(union) == ddl


def test_record_comes_back() -> None:
    pytest.importorskip("fastavro")
    schema = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}]}
    avro = serdes.avro(schema)
    assert avro.decode(avro.encode({"id": 7})) == {"id": 7}


def test_schema_or_registry_is_needed() -> None:
    with pytest.raises(SerdeError, match="needs a schema"):
        serdes.avro()


def test_registry_is_read_by_spark_only() -> None:
    with pytest.raises(SerdeError, match="registry"):
        serdes.avro(registry="http://localhost:8081").encode({})


@pytest.mark.parametrize("schema", ["Unknown", {"kind": "record"}])
def test_what_is_no_schema_is_told(schema: object) -> None:
    with pytest.raises(SerdeError):
        avro_ddl(schema)
