"""Avro: with a schema at hand, or with ids of a schema registry."""

from __future__ import annotations

import importlib
import io
import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tidemill.serde.avro_types import avro_ddl
from tidemill.serde.base import Serde, SerdeError
from tidemill.serde.registry import RegisteredSchema, SchemaRegistry, address, split_id, with_id

__all__ = ["AvroSerde", "avro", "avro_ddl"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroSerde(Serde):
    """Avro binary; with `registry` each message begins with a zero byte and the four bytes of a schema id."""

    name: str = "avro"
    avro_schema: str | None = None
    registry: str | None = None
    subject: str | None = None
    authorization: str | None = field(default=None, compare=False, repr=False)

    @property
    def known_schema(self) -> str:
        """The schema values have, as JSON text."""
        if self.avro_schema is None:
            raise SerdeError(
                "which schema of the registry this Avro serde means is not known",
                remedy='name its subject, as in subject="orders-value", or give the schema',
            )
        return self.avro_schema

    def schema_id(self) -> int | None:
        """The id written before each message, registered where it is new; None without registry."""
        if self.registry is None:
            return None
        text = self.known_schema
        if self.subject is None:
            raise SerdeError(
                "an Avro serde that writes needs the subject its schema is registered under",
                remedy='add subject=, for instance subject="orders-value"',
            )
        return _registry(self.registry, self.authorization).register(self.subject, text)

    def _to_bytes(self, value: Any) -> bytes:
        out = io.BytesIO()
        _codec().schemaless_writer(out, _parsed(self.known_schema), value)
        id_ = self.schema_id()
        return out.getvalue() if id_ is None else with_id(id_, out.getvalue())

    def _from_bytes(self, data: bytes) -> Any:
        reading = _parsed(self.known_schema)
        writing = reading
        if self.registry is not None:
            id_, data = split_id(data)
            writing = _writers(self.registry, self.authorization, id_)
        stream = io.BytesIO(data)
        value = _codec().schemaless_reader(stream, writing, reading)
        if stream.read(1):
            raise SerdeError("more bytes follow the Avro value", value=data)
        return value


def avro(
    schema: str | dict[str, Any] | list[Any] | None = None,
    *,
    registry: str | None = None,
    subject: str | None = None,
) -> AvroSerde:
    """Avro of a schema (JSON text or a dict), of a subject of a registry, or of both.

    With a registry and no schema, the latest of the subject is asked for now. A login is part of the address:
    `https://user:password@host:8081`; plans and messages show the address without it.

    >>> avro('{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}').schema
    'struct<id:bigint>'
    """
    if schema is None and registry is None:
        raise SerdeError("Avro needs a schema", remedy="give the Avro schema, or registry= and subject=")
    plain, login = (None, None) if registry is None else address(registry)
    if schema is None and plain is not None and subject is not None:
        client = _registry(plain, login)
        schema = _whole(client, client.version(subject))
    parsed = _loads(schema) if isinstance(schema, str) else schema
    text = None if parsed is None else json.dumps(parsed, sort_keys=True)
    ddl = "" if parsed is None else avro_ddl(parsed)
    return AvroSerde(schema=ddl, avro_schema=text, registry=plain, subject=subject, authorization=login)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text  # a bare name, such as `long`


@cache
def _registry(url: str, authorization: str | None) -> SchemaRegistry:
    return SchemaRegistry(url, authorization)


@cache
def _writers(url: str, authorization: str | None, id_: int) -> Any:
    client = _registry(url, authorization)
    return _codec().parse_schema(_whole(client, client.schema(id_)))


def _whole(client: SchemaRegistry, schema: RegisteredSchema) -> Any:
    """A schema with the schemas it refers to written out where they are used first."""
    if schema.kind != "AVRO":
        raise SerdeError(f"the registry holds a schema of {schema.kind} there, not of Avro")
    named: dict[str, Any] = {}
    for reference in schema.references:
        named[reference["name"]] = _whole(client, client.version(reference["subject"], reference["version"]))
    return _filled(_loads(schema.text), named)


def _filled(schema: Any, named: dict[str, Any]) -> Any:
    match schema:
        case str():
            return named.pop(schema, schema)
        case list():
            return [_filled(branch, named) for branch in schema]
        case dict():
            parts = {"type", "items", "values", "fields"}
            return {key: _filled(part, named) if key in parts else part for key, part in schema.items()}
    return schema


@cache
def _parsed(text: str) -> Any:
    return _codec().parse_schema(json.loads(text))


def _codec() -> Any:
    try:
        return importlib.import_module("fastavro")
    except ModuleNotFoundError:
        raise SerdeError("Avro in Python needs fastavro", remedy="pip install 'tidemill[avro]'") from None
