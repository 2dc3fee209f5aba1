"""Avro: with a schema at hand, or with ids of a schema registry."""

from __future__ import annotations

import importlib
import io
import json
from dataclasses import dataclass
from typing import Any, Final

from tidemill.serde.base import Serde, SerdeError


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroSerde(Serde):
    """Avro binary; with `registry` each message begins with a zero byte and the four bytes of a schema id."""

    name: str = "avro"
    avro_schema: str | None = None
    registry: str | None = None
    subject: str | None = None

    def _to_bytes(self, value: Any) -> bytes:
        out = io.BytesIO()
        self._codec().schemaless_writer(out, self._parsed(), value)
        return out.getvalue()

    def _from_bytes(self, data: bytes) -> Any:
        return self._codec().schemaless_reader(io.BytesIO(data), self._parsed(), None)

    def _codec(self) -> Any:
        try:
            return importlib.import_module("fastavro")
        except ModuleNotFoundError:
            raise SerdeError("Avro in Python needs fastavro", remedy="pip install 'tidemill[avro]'") from None

    def _parsed(self) -> Any:
        if self.avro_schema is None or self.registry is not None:
            raise SerdeError("the schemas of this Avro serde live in a registry: only Spark reads them")
        return json.loads(self.avro_schema)


def avro(
    schema: str | dict[str, Any] | None = None, *, registry: str | None = None, subject: str | None = None
) -> AvroSerde:
    """Avro of a schema (JSON text or a dict), of a registry's address, or of both.

    >>> avro('{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}').schema
    'struct<id:bigint>'
    """
    if schema is None and registry is None:
        raise SerdeError("Avro needs a schema", remedy="give the Avro schema, or registry=")
    parsed = json.loads(schema) if isinstance(schema, str) else schema
    text = None if parsed is None else json.dumps(parsed, sort_keys=True)
    ddl = "" if parsed is None else avro_ddl(parsed)
    return AvroSerde(schema=ddl, avro_schema=text, registry=registry, subject=subject)


def avro_ddl(schema: Any) -> str:
    """The Spark type Avro data of a schema is read as.

    >>> avro_ddl({"type": "array", "items": ["null", "int"]})
    'array<int>'
    """
    if isinstance(schema, str):
        if schema not in _PRIMITIVES:
            raise SerdeError(f"the Avro type `{schema}` is not known", remedy="define it where it is used")
        return _PRIMITIVES[schema]
    if isinstance(schema, list):
        return _union([branch for branch in schema if branch != "null"])
    match schema:
        case {"logicalType": "decimal", "precision": precision}:
            return f"decimal({precision},{schema.get('scale', 0)})"
        case {"logicalType": logical} if logical in _LOGICAL:
            return _LOGICAL[logical]
        case {"type": "record", "fields": fields}:
            inner = (f"{field['name']}:{avro_ddl(field['type'])}" for field in fields)
            return f"struct<{','.join(inner)}>"
        case {"type": "array", "items": items}:
            return f"array<{avro_ddl(items)}>"
        case {"type": "map", "values": values}:
            return f"map<string,{avro_ddl(values)}>"
        case {"type": "enum"}:
            return "string"
        case {"type": "fixed"}:
            return "binary"
        case {"type": inner_type}:
            return avro_ddl(inner_type)
    raise SerdeError(f"this is no Avro schema: {schema!r}")


def _union(branches: list[Any]) -> str:
    if len(branches) == 1:
        return avro_ddl(branches[0])
    if set(map(str, branches)) == {"int", "long"}:
        return "bigint"
    if set(map(str, branches)) == {"float", "double"}:
        return "double"
    members = (f"member{index}:{avro_ddl(branch)}" for index, branch in enumerate(branches))
    return f"struct<{','.join(members)}>"


_PRIMITIVES: Final = {
    "null": "void",
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "string": "string",
}
_LOGICAL: Final = {
    "date": "date",
    "timestamp-millis": "timestamp",
    "timestamp-micros": "timestamp",
    "local-timestamp-millis": "timestamp_ntz",
    "local-timestamp-micros": "timestamp_ntz",
    "uuid": "string",
}
