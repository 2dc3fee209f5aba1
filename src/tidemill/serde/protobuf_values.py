"""Protobuf messages as plain Python values, and back."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from tidemill.serde.base import SerdeError
from tidemill.serde.protobuf_types import WELL_KNOWN, is_map


@cache
def message_class(files: bytes, name: str) -> type[Message]:
    """The class of a message, from a descriptor set; the same in every process, whoever generated it."""
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(files).file:
        pool.Add(file)
    try:
        return GetMessageClass(pool.FindMessageTypeByName(name))
    except KeyError as error:
        raise SerdeError(f"the descriptors have no message {name}") from error


def files_of(message: Any) -> bytes:
    """The descriptor set of a message's file and all it imports, imports first."""
    files = FileDescriptorSet()
    seen: set[str] = set()

    def add(file: FileDescriptor) -> None:
        if file.name not in seen:
            seen.add(file.name)
            for imported in file.dependencies:
                add(imported)
            file.CopyToProto(files.file.add())

    add(message.file)
    return files.SerializeToString(deterministic=True)


def file_text(file: FileDescriptor) -> str:
    """A file as registries take it: its descriptor in base 64."""
    proto = FileDescriptorProto()
    file.CopyToProto(proto)
    return base64.b64encode(proto.SerializeToString()).decode()


def from_message(message: Message) -> dict[str, Any]:
    """The fields of a message."""
    return {field.name: _get(message, field) for field in message.DESCRIPTOR.fields}


def to_message(kind: type[Message], value: Any) -> Message:
    """A message of a dict; a message is taken as it is."""
    if isinstance(value, Message):
        return value
    message = kind()
    for name, item in value.items():
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            raise SerdeError(f"the message {message.DESCRIPTOR.full_name} has no field `{name}`", value=value)
        if item is not None:
            _set(message, field, item)
    return message


def place(message: Any) -> bytes:
    """Which message of its file this is: length and items of its path as zigzag numbers; [0] is a 0."""
    path: list[int] = []
    while message is not None:
        outer = message.containing_type
        beside = message.file.message_types_by_name if outer is None else outer.nested_types_by_name
        path.insert(0, list(beside).index(message.name))
        message = outer
    return b"\x00" if path == [0] else b"".join(_varint(number) for number in (len(path), *path))


def after_place(data: bytes) -> bytes:
    """What follows a message's place."""
    length, at = _read_varint(data, 0)
    for _ in range(length):
        _, at = _read_varint(data, at)
    return data[at:]


def _get(message: Any, field: Any) -> Any:
    if field.has_presence and not message.HasField(field.name):
        return None
    value = getattr(message, field.name)
    if is_map(field):
        item = _reader(field.message_type.fields_by_name["value"])
        return {key: item(value[key]) for key in value}
    read = _reader(field)
    return [read(item) for item in value] if field.is_repeated else read(value)


def _reader(field: Any) -> Callable[[Any], Any]:
    if field.enum_type is not None:
        names = field.enum_type.values_by_number
        return lambda number: names[number].name if number in names else str(number)
    if field.message_type is not None:
        return _from_known if field.message_type.full_name in WELL_KNOWN else from_message
    return Decimal if field.type in _UNSIGNED else lambda value: value


def _from_known(message: Any) -> Any:
    match message.DESCRIPTOR.name:
        case "Timestamp":
            return _EPOCH + timedelta(seconds=message.seconds, microseconds=message.nanos // 1000)
        case "Duration":
            return timedelta(seconds=message.seconds, microseconds=int(message.nanos / 1000))
        case "UInt64Value":
            return Decimal(message.value)
    return message.value


def _set(message: Any, field: Any, value: Any) -> None:
    target = getattr(message, field.name)
    if is_map(field):
        _set_map(target, field.message_type.fields_by_name["value"], value)
    elif field.message_type is not None:
        if field.is_repeated:
            for item in value:
                _merge(target.add(), item)
        else:
            target.SetInParent()
            _merge(target, value)
    elif field.is_repeated:
        target.extend(_scalar(field, item) for item in value)
    else:
        setattr(message, field.name, _scalar(field, value))


def _set_map(target: Any, item: Any, entries: Mapping[Any, Any]) -> None:
    for key, value in entries.items():
        if item.message_type is not None:
            _merge(target[key], value)
        else:
            target[key] = _scalar(item, value)


def _merge(message: Any, value: Any) -> None:
    if message.DESCRIPTOR.full_name not in WELL_KNOWN:
        message.MergeFrom(to_message(type(message), value))
    elif isinstance(value, datetime | timedelta):
        span = value if isinstance(value, timedelta) else _aware(value) - _EPOCH
        micros = span // timedelta(microseconds=1)
        # A timestamp counts nanoseconds upwards from its second; both parts of a duration have its sign.
        sign = -1 if isinstance(value, timedelta) and micros < 0 else 1
        seconds, rest = divmod(micros * sign, 1_000_000)
        message.seconds, message.nanos = seconds * sign, rest * 1000 * sign
    else:
        message.value = int(value) if isinstance(value, Decimal) else value


def _scalar(field: Any, value: Any) -> Any:
    if field.enum_type is not None and isinstance(value, str):
        named = field.enum_type.values_by_name.get(value)
        return int(value) if named is None else named.number
    return int(value) if isinstance(value, Decimal) else value


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _varint(number: int) -> bytes:
    zigzag, out = number << 1, bytearray()
    while zigzag > _LOW_BITS:
        out.append(zigzag & _LOW_BITS | _MORE)
        zigzag >>= 7
    out.append(zigzag)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    zigzag = shift = 0
    while True:
        if at >= len(data):
            raise SerdeError("the bytes end inside the message's place in its file", value=data)
        zigzag |= (data[at] & _LOW_BITS) << shift
        shift += 7
        at += 1
        if not data[at - 1] & _MORE:
            return (zigzag >> 1) ^ -(zigzag & 1), at


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LOW_BITS, _MORE = 0x7F, 0x80
_UNSIGNED: Final = (FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64)
