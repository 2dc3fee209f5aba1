"""Protobuf messages: of a generated class, or of a descriptor file; with or without a schema registry."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tidemill.serde.base import Serde, SerdeError
from tidemill.serde.registry import SchemaRegistry, address, split_id, with_id
from tidemill.serde.schema import ddl_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtobufSerde(Serde):
    """A Protobuf message, in Python a dict; enums are their names, unset fields that can be unset are None.

    `descriptor` is the file written by `protoc --descriptor_set_out`, or a fingerprint of the class's own.
    With `registry` each message begins with a zero byte, the four bytes of a schema id and the place of the
    message in its file.
    """

    name: str = "protobuf"
    message: str
    descriptor: str
    registry: str | None = None
    subject: str | None = None
    files: bytes | None = field(default=None, compare=False, repr=False)
    authorization: str | None = field(default=None, compare=False, repr=False)
    known_id: int | None = field(default=None, compare=False, repr=False)

    def registered(self) -> ProtobufSerde:
        """The same serde with its schema's id at hand, so that who writes with it asks no registry."""
        return replace(self, known_id=self.schema_id())

    def schema_id(self) -> int | None:
        """The id written before each message, registered where it is new; None without registry."""
        if self.registry is None or self.known_id is not None:
            return self.known_id
        if self.subject is None:
            raise SerdeError(
                "a Protobuf serde that writes needs the subject its schema is registered under",
                remedy='add subject=, for instance subject="orders-value"',
            )
        return _registered(self.registry, self.authorization, self.subject, self._files(), self.message)

    def _to_bytes(self, value: Any) -> bytes:
        from tidemill.serde import protobuf_values as values

        kind = values.message_class(self._files(), self.message)
        id_ = self.schema_id()
        body = values.to_message(kind, value).SerializeToString(deterministic=True)
        if id_ is None:
            return body
        return with_id(id_, values.place(kind.DESCRIPTOR) + body)

    def _from_bytes(self, data: bytes) -> Any:
        from tidemill.serde import protobuf_values as values

        if self.registry is not None:
            data = values.after_place(split_id(data)[1])
        message = values.message_class(self._files(), self.message)()
        message.ParseFromString(data)
        return values.from_message(message)

    def _files(self) -> bytes:
        if self.files is not None:
            return self.files
        try:
            return Path(self.descriptor).read_bytes()
        except OSError as error:
            raise SerdeError(
                f"the descriptor file `{self.descriptor}` cannot be read: {error.strerror}",
                remedy="write it with `protoc --include_imports --descriptor_set_out=FILE`",
            ) from error


def protobuf(
    message: Any,
    descriptor: str | Path | None = None,
    *,
    schema: Any = None,
    registry: str | None = None,
    subject: str | None = None,
) -> ProtobufSerde:
    """A generated message class, or the name of a message and the descriptor file that has it.

    >>> from google.protobuf.timestamp_pb2 import Timestamp
    >>> protobuf(Timestamp).message
    'google.protobuf.Timestamp'
    >>> protobuf("shop.Order", "orders.desc", schema="id BIGINT").schema
    'struct<id BIGINT>'
    """
    plain, login = (None, None) if registry is None else address(registry)
    name, files, described = _source(message, descriptor)
    if schema is None:
        schema = None if files is None else _ddl(files, name)
    return ProtobufSerde(
        schema="" if schema is None else ddl_of(schema),
        message=name,
        descriptor=described,
        registry=plain,
        subject=subject,
        files=files,
        authorization=login,
    )


def _source(message: Any, descriptor: str | Path | None) -> tuple[str, bytes | None, str]:
    if isinstance(message, str):
        if descriptor is None:
            raise SerdeError(
                f"where the message {message} is described is not known",
                remedy="give the generated class, or the descriptor file as the second argument",
            )
        path = Path(descriptor)
        return message, path.read_bytes() if path.is_file() else None, str(descriptor)
    from tidemill.serde.protobuf_values import files_of

    own = getattr(message, "DESCRIPTOR", None)
    if own is None:
        raise SerdeError(f"{message!r} is no Protobuf message class")
    files = files_of(own)
    return own.full_name, files, f"sha256:{hashlib.sha256(files).hexdigest()}"


def _ddl(files: bytes, name: str) -> str:
    from tidemill.serde.protobuf_types import message_ddl
    from tidemill.serde.protobuf_values import message_class

    return message_ddl(message_class(files, name).DESCRIPTOR)


@cache
def _registered(url: str, authorization: str | None, subject: str, files: bytes, message: str) -> int:
    from tidemill.serde.protobuf_values import message_class

    client = SchemaRegistry(url, authorization)
    return _register(client, subject, message_class(files, message).DESCRIPTOR.file)


def _register(client: SchemaRegistry, subject: str, file: Any) -> int:
    """Register a file after the files it imports; those of Protobuf itself are known to every registry."""
    from tidemill.serde.protobuf_values import file_text

    references = []
    for imported in file.dependencies:
        if not imported.name.startswith("google/protobuf/"):
            _register(client, imported.name, imported)
            version = client.number_of_latest(imported.name)
            references.append({"name": imported.name, "subject": imported.name, "version": version})
    return client.register(subject, file_text(file), kind="PROTOBUF", references=references)
