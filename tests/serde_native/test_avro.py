"""Avro by Spark's own code, with and without a registry: compared with fastavro and with Confluent."""

from __future__ import annotations

import json
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tidemill import serdes
from tidemill.serde import SerdeError
from tidemill.serde.registry import RegistryError

ADDRESS = {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "string"}]}
ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"]},
        {"name": "ratio", "type": "double"},
        {"name": "small", "type": "float"},
        {"name": "n", "type": "int"},
        {"name": "ok", "type": "boolean"},
        {"name": "raw", "type": "bytes"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["OPEN", "DONE"]}},
        {"name": "tags", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {"name": "home", "type": ADDRESS},
        {"name": "work", "type": ["null", "Address"]},
    ],
}
V1 = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
V2 = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "city", "type": "string", "default": "?"}],
}
orders = st.fixed_dictionaries(
    {
        "id": st.integers(-(2**63), 2**63 - 1),
        "name": st.none() | st.text(),
        "ratio": st.floats(allow_nan=False),
        "small": st.floats(width=32, allow_nan=False),
        "n": st.integers(-(2**31), 2**31 - 1),
        "ok": st.booleans(),
        "raw": st.binary(),
        "price": st.integers(-(10**9) + 1, 10**9 - 1).map(lambda cents: Decimal(cents).scaleb(-2)),
        "at": st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)),
        "day": st.dates(date(1900, 1, 1), date(2200, 1, 1)),
        "state": st.sampled_from(["OPEN", "DONE"]),
        "tags": st.lists(st.none() | st.text(), max_size=3),
        "counts": st.dictionaries(st.text(max_size=4), st.integers(-9, 9), max_size=1),
        "home": st.fixed_dictionaries({"city": st.text()}),
        "work": st.none() | st.fixed_dictionaries({"city": st.text()}),
    }
)


@settings(max_examples=2, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(st.lists(st.none() | orders, min_size=20, max_size=60))
def test_records_have_the_bytes_of_fastavro_and_come_back(run: Any, batch: list[Any]) -> None:
    serde = serdes.avro(ORDER)
    ((written, read),) = run.round_trips((serde, batch))
    # fastavro takes a time without a zone as one of the machine's.
    zoned = [row and {**row, "at": row["at"].replace(tzinfo=UTC)} for row in batch]
    assert written == [serde.encode(row) for row in zoned]
    assert read == batch


def test_values_that_are_no_records(run: Any) -> None:
    cases = [
        (serdes.avro('"long"'), [1, -(2**63), None]),
        (serdes.avro("string"), ["", "é", None]),
        (serdes.avro({"type": "array", "items": "int"}), [[1, 2], [], None]),
    ]
    for (serde, values), (written, read) in zip(cases, run.round_trips(*cases), strict=True):
        assert written == [serde.encode(value) for value in values]
        assert read == values


def test_bytes_that_are_no_avro_are_broken(run: Any) -> None:
    serde = serdes.avro(V2)
    good = serde.encode({"id": 5, "city": "Oslo"})
    assert good is not None
    data = [*(good[:length] for length in range(len(good))), good + b"x", b"\xff" * 30, b"\x02\x03"]
    assert run.decode(serde, [*data, good]) == [*["BROKEN"] * len(data), {"id": 5, "city": "Oslo"}]


def test_null_where_the_schema_has_none_fails_the_query(run: Any) -> None:
    with pytest.raises(Exception, match=r"(?i)null"):
        run.encode(serdes.avro(V2), [{"id": 1, "city": None}])


def test_confluent_reads_what_spark_writes_and_the_other_way(run: Any, registry: Any) -> None:
    context = SerializationContext("orders", MessageField.VALUE)
    client = SchemaRegistryClient({"url": registry.url})
    theirs = AvroSerializer(client, json.dumps(V2))
    ours = serdes.avro(V2, registry=registry.url, subject="orders-value")
    row = {"id": 7, "city": "Oslo"}
    assert run.encode(ours, [row, None]) == [ours.encode(row), None]
    assert AvroDeserializer(client)(run.encode(ours, [row])[0], context) == row
    assert run.decode(ours, [theirs(row, context)]) == [row]
    assert ours.decode(theirs(row, context)) == row


def test_older_writers_are_read_by_the_schema_of_the_reader(run: Any, registry: Any) -> None:
    old = serdes.avro(V1, registry=registry.url, subject="orders-value")
    written = [old.encode({"id": 1}), old.encode({"id": 2})]
    new = serdes.avro(V2, registry=registry.url, subject="orders-value")
    both = [*written, new.encode({"id": 3, "city": "Rome"})]
    expected = [{"id": 1, "city": "?"}, {"id": 2, "city": "?"}, {"id": 3, "city": "Rome"}]
    assert run.decode(new, both) == expected
    assert [new.decode(data) for data in both] == expected
    assert (
        len([line for line in registry.requests if line == "GET /schemas/ids/1"]) == 2
    )  # Spark's and Python's


def test_schema_of_a_subject_is_asked_for(run: Any, registry: Any) -> None:
    registry.register("orders-value", {"schema": json.dumps(V1)})
    registry.register("orders-value", {"schema": json.dumps(V2)})
    serde = serdes.avro(registry=registry.url, subject="orders-value")
    assert serde.schema == "struct<id:bigint,city:string>"
    assert run.decode(serde, run.encode(serde, [{"id": 1, "city": "x"}])) == [{"id": 1, "city": "x"}]


def test_references_to_other_subjects_are_followed(run: Any, registry: Any) -> None:
    person = {"type": "record", "name": "Person", "fields": [{"name": "home", "type": "Address"}]}
    registry.register("address", {"schema": json.dumps(ADDRESS)})
    reference = {"name": "Address", "subject": "address", "version": 1}
    known = registry.register("people-value", {"schema": json.dumps(person), "references": [reference]})
    serde = serdes.avro(registry=registry.url, subject="people-value")
    assert serde.schema == "struct<home:struct<city:string>>"
    data = struct.pack(">bI", 0, known["id"]) + b"\x08Oslo"
    assert run.decode(serde, [data]) == [serde.decode(data)] == [{"home": {"city": "Oslo"}}]


def test_messages_without_a_known_schema_are_broken(run: Any, registry: Any) -> None:
    registry.register("proto-value", {"schema": "", "schemaType": "PROTOBUF"})
    serde = serdes.avro(V2, registry=registry.url, subject="orders-value")
    good = serde.encode({"id": 1, "city": "x"})
    assert good is not None
    data = [
        b"",
        b"\x00\x00",
        b"\x01" + good[1:],
        struct.pack(">bI", 0, 99) + good[5:],
        good[:-1],
        good + b"x",
    ]
    data.append(struct.pack(">bI", 0, 1) + good[5:])
    assert run.decode(serde, [*data, good]) == [*["BROKEN"] * len(data), {"id": 1, "city": "x"}]


def test_login_is_sent_and_not_shown(run: Any, registry: Any) -> None:
    registry.login = "me:s3cret"
    with pytest.raises(RegistryError, match="401") as refused:
        serdes.avro(V1, registry=registry.url, subject="s").encode({"id": 1})
    assert refused.value.status == 401
    serde = serdes.avro(V1, registry=registry.url.replace("//", "//me:s3cret@"), subject="s")
    assert run.decode(serde, run.encode(serde, [{"id": 1}])) == [{"id": 1}]
    assert "s3cret" not in f"{serde!r} {serde.to_json()}"


def test_registry_that_does_not_answer_is_no_broken_record(run: Any) -> None:
    serde = serdes.avro(V1, registry="http://127.0.0.1:9", subject="s")
    with pytest.raises(RegistryError, match="does not answer"):
        serde.encode({"id": 1})
    with pytest.raises(Exception, match="does not answer"):
        run.decode(serde, [b"\x00\x00\x00\x00\x01\x02"])


def test_writing_needs_a_subject(registry: Any) -> None:
    with pytest.raises(SerdeError, match="subject"):
        serdes.avro(V1, registry=registry.url).encode({"id": 1})
