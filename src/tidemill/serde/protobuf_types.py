"""The Spark types Protobuf messages are read as."""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor

from tidemill.serde.base import SerdeError

# Descriptors are of one of two classes, by how Protobuf was built: here they are Any.

#: Messages that stand for one value, and the Spark type of it.
WELL_KNOWN: Final = {
    "google.protobuf.Timestamp": "timestamp",
    "google.protobuf.Duration": "interval day to second",
    "google.protobuf.DoubleValue": "double",
    "google.protobuf.FloatValue": "float",
    "google.protobuf.Int64Value": "bigint",
    "google.protobuf.UInt64Value": "decimal(20,0)",
    "google.protobuf.Int32Value": "int",
    "google.protobuf.UInt32Value": "bigint",
    "google.protobuf.BoolValue": "boolean",
    "google.protobuf.StringValue": "string",
    "google.protobuf.BytesValue": "binary",
}


def message_ddl(message: Any, outer: tuple[str, ...] = ()) -> str:
    """The Spark type of a message.

    >>> from google.protobuf.any_pb2 import Any
    >>> message_ddl(Any.DESCRIPTOR)
    'struct<`type_url`:string,`value`:binary>'
    """
    if message.full_name in outer:
        raise SerdeError(
            f"the message {message.full_name} contains itself",
            remedy="a Spark type ends: name the wanted fields by schema=, or read serdes.bytes",
        )
    inside = (*outer, message.full_name)
    fields = (f"`{field.name}`:{_field(field, inside)}" for field in message.fields)
    return f"struct<{','.join(fields)}>"


def is_map(field: Any) -> bool:
    """Whether a field is a map: Protobuf writes those as repeated entries."""
    return bool(field.message_type and field.message_type.GetOptions().map_entry)


def _field(field: Any, outer: tuple[str, ...]) -> str:
    if is_map(field):
        entry = field.message_type.fields_by_name
        return f"map<{_one(entry['key'], outer)},{_one(entry['value'], outer)}>"
    return f"array<{_one(field, outer)}>" if field.is_repeated else _one(field, outer)


def _one(field: Any, outer: tuple[str, ...]) -> str:
    if field.message_type is None:
        return _SCALARS[field.type]
    return WELL_KNOWN.get(field.message_type.full_name) or message_ddl(field.message_type, outer)


_SCALARS: Final[dict[int, str]] = {
    FieldDescriptor.TYPE_DOUBLE: "double",
    FieldDescriptor.TYPE_FLOAT: "float",
    FieldDescriptor.TYPE_INT64: "bigint",
    FieldDescriptor.TYPE_SINT64: "bigint",
    FieldDescriptor.TYPE_SFIXED64: "bigint",
    FieldDescriptor.TYPE_UINT64: "decimal(20,0)",
    FieldDescriptor.TYPE_FIXED64: "decimal(20,0)",
    FieldDescriptor.TYPE_INT32: "int",
    FieldDescriptor.TYPE_SINT32: "int",
    FieldDescriptor.TYPE_SFIXED32: "int",
    FieldDescriptor.TYPE_UINT32: "bigint",
    FieldDescriptor.TYPE_FIXED32: "bigint",
    FieldDescriptor.TYPE_BOOL: "boolean",
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BYTES: "binary",
    FieldDescriptor.TYPE_ENUM: "string",
}
