"""Protobuf messages by Arrow UDFs: against Protobuf's own classes, and Confluent's wire format."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import duration_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from tidemill import serdes
from tidemill.serde import SerdeError
from tidemill.serde.protobuf_values import after_place, files_of, place

F = FieldDescriptorProto
SCALARS = {
    "d": F.TYPE_DOUBLE,
    "f": F.TYPE_FLOAT,
    "i32": F.TYPE_INT32,
    "i64": F.TYPE_INT64,
    "u32": F.TYPE_UINT32,
    "u64": F.TYPE_UINT64,
    "s32": F.TYPE_SINT32,
    "fx64": F.TYPE_FIXED64,
    "ok": F.TYPE_BOOL,
    "text": F.TYPE_STRING,
    "raw": F.TYPE_BYTES,
}


def _files() -> tuple[FileDescriptorProto, FileDescriptorProto]:
    """What protoc makes of two .proto files, the second of which imports the first."""
    common = FileDescriptorProto(name="common.proto", package="shop", syntax="proto3")
    address = common.message_type.add(name="Address")
    address.field.add(name="city", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)

    file = FileDescriptorProto(name="orders.proto", package="shop", syntax="proto3")
    known = (timestamp_pb2, duration_pb2, wrappers_pb2)
    file.dependency.extend(["common.proto", *(module.DESCRIPTOR.name for module in known)])
    state = file.enum_type.add(name="State")
    state.value.add(name="OPEN", number=0)
    state.value.add(name="DONE", number=1)
    file.message_type.add(name="First")
    order = file.message_type.add(name="Order")
    for number, (name, kind) in enumerate(SCALARS.items(), 1):
        order.field.add(name=name, number=number, type=kind, label=F.LABEL_OPTIONAL)

    def message(name: str, number: int, kind: str, label: Any = F.LABEL_OPTIONAL) -> None:
        order.field.add(name=name, number=number, type=F.TYPE_MESSAGE, label=label, type_name=kind)

    enum = {"type": F.TYPE_ENUM, "type_name": ".shop.State"}
    order.field.add(name="state", number=20, label=F.LABEL_OPTIONAL, **enum)
    order.field.add(name="states", number=21, label=F.LABEL_REPEATED, **enum)
    order.field.add(name="numbers", number=22, type=F.TYPE_INT32, label=F.LABEL_REPEATED)
    message("home", 23, ".shop.Address")
    message("others", 24, ".shop.Address", F.LABEL_REPEATED)
    message("at", 25, ".google.protobuf.Timestamp")
    message("took", 26, ".google.protobuf.Duration")
    message("note", 27, ".google.protobuf.StringValue")
    for number, name, kind in ((28, "counts", F.TYPE_INT64), (29, "places", F.TYPE_MESSAGE)):
        entry = order.nested_type.add(name=f"{name.title()}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
        value = entry.field.add(name="value", number=2, type=kind, label=F.LABEL_OPTIONAL)
        if kind == F.TYPE_MESSAGE:
            value.type_name = ".shop.Address"
        message(name, number, f".shop.Order.{entry.name}", F.LABEL_REPEATED)
    order.oneof_decl.add(name="_maybe")
    order.field.add(
        name="maybe",
        number=30,
        type=F.TYPE_INT32,
        label=F.LABEL_OPTIONAL,
        oneof_index=0,
        proto3_optional=True,
    )
    order.nested_type.add(name="Line").field.add(
        name="sku", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL
    )
    return common, file


POOL = DescriptorPool()
for module in (timestamp_pb2, duration_pb2, wrappers_pb2):
    POOL.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
for proto in _files():
    POOL.AddSerializedFile(proto.SerializeToString())
Order = GetMessageClass(POOL.FindMessageTypeByName("shop.Order"))
Address = GetMessageClass(POOL.FindMessageTypeByName("shop.Address"))
Line = GetMessageClass(POOL.FindMessageTypeByName("shop.Order.Line"))

FULL = {
    "d": 2.5,
    "f": 0.5,
    "i32": -1,
    "i64": -(2**63),
    "u32": 2**32 - 1,
    "u64": Decimal(2**64 - 1),
    "s32": -7,
    "fx64": Decimal(2**63),
    "ok": True,
    "text": "é😀",
    "raw": b"\x00\xff",
    "state": "DONE",
    "states": ["OPEN", "DONE"],
    "numbers": [1, 2, 3],
    "home": {"city": "Oslo"},
    "others": [{"city": "Rome"}, {"city": ""}],
    "at": datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    "took": timedelta(seconds=-1, microseconds=-500000),
    "note": "",
    "counts": {"a": 1},
    "places": {"b": {"city": "Bern"}},
    "maybe": 0,
}
EMPTY = {
    **{"d": 0.0, "f": 0.0, "i32": 0, "i64": 0, "u32": 0, "u64": Decimal(0), "s32": 0, "fx64": Decimal(0)},
    **{"ok": False, "text": "", "raw": b"", "state": "OPEN", "states": [], "numbers": [], "home": None},
    **{"others": [], "at": None, "took": None, "note": None, "counts": {}, "places": {}, "maybe": None},
}


def _message() -> Any:
    message = Order(
        **{name: int(FULL[name]) for name in ("i32", "i64", "u32", "u64", "s32", "fx64", "maybe")}
    )
    message.d, message.f, message.ok, message.text, message.raw = 2.5, 0.5, True, "é😀", b"\x00\xff"
    message.state = 1
    message.states.extend([0, 1])
    message.numbers.extend([1, 2, 3])
    message.home.city = "Oslo"
    message.others.add(city="Rome")
    message.others.add()
    message.at.FromDatetime(FULL["at"])
    message.took.FromTimedelta(FULL["took"])
    message.note.SetInParent()
    message.counts["a"] = 1
    message.places["b"].city = "Bern"
    return message


def _aware(row: Any) -> Any:
    """Collected times are those of the machine's zone, without saying so."""
    return {**row, "at": row["at"] and row["at"].astimezone(UTC)}


def test_spark_type_of_a_message() -> None:
    assert serdes.protobuf(Order).schema.replace("`", "") == (
        "struct<d:double,f:float,i32:int,i64:bigint,u32:bigint,u64:decimal(20,0),s32:int,"
        "fx64:decimal(20,0),ok:boolean,text:string,raw:binary,state:string,states:array<string>,"
        "numbers:array<int>,home:struct<city:string>,others:array<struct<city:string>>,at:timestamp,"
        "took:interval day to second,note:string,counts:map<string,bigint>,"
        "places:map<string,struct<city:string>>,maybe:int>"
    )


def test_messages_have_the_bytes_of_protobuf_and_come_back(run: Any) -> None:
    serde = serdes.protobuf(Order)
    ((written, read),) = run.round_trips((serde, [FULL, EMPTY, None]))
    assert written == [_message().SerializeToString(deterministic=True), b"", None]
    assert [row and _aware(row) for row in read] == [FULL, EMPTY, None]
    assert serde.decode(written[0]) == FULL
    assert serde.encode(_message()) == written[0]


def test_bytes_that_are_no_message_are_broken(run: Any) -> None:
    serde = serdes.protobuf(Address)
    assert run.decode(serde, [b"\xff\xff", b"\x0a\x05ab", b"\x0a\x01\xff", b"\x0a\x01a"]) == [
        *["BROKEN"] * 3,
        {"city": "a"},
    ]


def test_unknown_enum_numbers_and_fields_pass(run: Any) -> None:
    serde = serdes.protobuf(Order)
    (row,) = run.decode(serde, [b"\xa0\x01\x09\xf8\x07\x01"])
    assert row["state"] == "9"


def test_confluent_reads_what_spark_writes_and_the_other_way(run: Any, registry: Any) -> None:
    context = SerializationContext("orders", MessageField.VALUE)
    client = SchemaRegistryClient({"url": registry.url})
    for kind, message, row in (
        (Order, _message(), FULL),
        (Address, Address(city="Oslo"), {"city": "Oslo"}),
        (Line, Line(sku="x"), {"sku": "x"}),
    ):
        subject = f"{kind.DESCRIPTOR.name}-value"
        ours = serdes.protobuf(kind, registry=registry.url, subject=subject)
        theirs = ProtobufSerializer(
            kind, client, {"subject.name.strategy": lambda _context, _name, subject=subject: subject}
        )
        data = theirs(message, context)
        (written,) = run.encode(ours, [row])
        assert written == ours.encode(row)
        assert ProtobufDeserializer(kind, {}, client)(written, context) == message
        (read,) = run.decode(ours, [data])
        assert (_aware(read) if "at" in row else read) == ours.decode(data) == row
        assert data[5:-1].startswith(place(kind.DESCRIPTOR))
    assert "common.proto" in registry.subjects


def test_messages_without_their_header_are_broken(run: Any, registry: Any) -> None:
    serde = serdes.protobuf(Address, registry=registry.url)
    head = b"\x00\x00\x00\x00\x01"
    assert run.decode(
        serde, [b"", b"\x01" + head[1:] + b"\x00", head, head + b"\x04\x02", head + b"\x00"]
    ) == [
        *["BROKEN"] * 4,
        {"city": ""},
    ]
    with pytest.raises(SerdeError, match="subject"):
        serde.encode({"city": "x"})


def test_descriptor_file_does_as_well_as_a_class(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "orders.desc"
    file.write_bytes(files_of(Order.DESCRIPTOR))
    serde = serdes.protobuf("shop.Address", file)
    assert serde.schema == serdes.protobuf(Address).schema
    assert run.round_trips((serde, [{"city": "Oslo"}])) == [([b"\x0a\x04Oslo"], [{"city": "Oslo"}])]


def test_place_of_a_message_in_its_file() -> None:
    assert place(Address.DESCRIPTOR) == b"\x00"
    assert place(Order.DESCRIPTOR) == b"\x02\x02"
    assert place(Line.DESCRIPTOR) == b"\x04\x02\x04"
    assert after_place(b"\x04\x02\x04rest") == b"rest"


def test_what_cannot_be_is_told(tmp_path: Path) -> None:
    file = FileDescriptorProto(name="tree.proto", syntax="proto3")
    tree = file.message_type.add(name="Tree")
    tree.field.add(name="child", number=1, type=F.TYPE_MESSAGE, label=F.LABEL_OPTIONAL, type_name=".Tree")
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    with pytest.raises(SerdeError, match="contains itself"):
        serdes.protobuf(GetMessageClass(pool.FindMessageTypeByName("Tree")))
    with pytest.raises(SerdeError, match="no Protobuf message class"):
        serdes.protobuf(int)
    with pytest.raises(SerdeError, match="not known"):
        serdes.protobuf("shop.Order")
    with pytest.raises(SerdeError, match="no field"):
        serdes.protobuf(Address).encode({"town": "Oslo"})
    (tmp_path / "x.desc").write_bytes(files_of(Address.DESCRIPTOR))
    with pytest.raises(SerdeError, match="no message"):
        serdes.protobuf("shop.Nothing", tmp_path / "x.desc")
