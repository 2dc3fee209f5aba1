"""The Spark types Avro data is read as."""

from __future__ import annotations

from typing import Any, Final

from tidemill.serde.base import SerdeError


def avro_ddl(schema: Any) -> str:
    """The Spark type Avro data of a schema is read as.

    >>> avro_ddl({"type": "array", "items": ["null", "int"]})
    'array<int>'
    """
    return _Types().ddl(schema, "")


class _Types:
    """Types of one schema; a name stands for the type it was given to before."""

    def __init__(self) -> None:
        self._named: dict[str, str | None] = {}

    def ddl(self, schema: Any, space: str) -> str:
        if isinstance(schema, str):
            return _PRIMITIVES.get(schema) or self._known(schema, space)
        if isinstance(schema, list):
            return self._union([branch for branch in schema if branch != "null"], space)
        if not isinstance(schema, dict):
            raise SerdeError(f"this is no Avro schema: {schema!r}")
        space = schema.get("namespace", space)
        name = _full(schema["name"], space) if "name" in schema else None
        if name is not None:
            space = name.rpartition(".")[0]
            self._named[name] = None  # known, but not what: whoever asks now is part of it
        ddl = self._of(schema, space)
        if name is not None:
            self._named[name] = ddl
        return ddl

    def _of(self, schema: dict[str, Any], space: str) -> str:
        match schema:
            case {"logicalType": "decimal", "precision": precision}:
                return f"decimal({precision},{schema.get('scale', 0)})"
            case {"logicalType": logical} if logical in _LOGICAL:
                return _LOGICAL[logical]
            case {"type": "record", "fields": fields}:
                inner = (f"{field['name']}:{self.ddl(field['type'], space)}" for field in fields)
                return f"struct<{','.join(inner)}>"
            case {"type": "array", "items": items}:
                return f"array<{self.ddl(items, space)}>"
            case {"type": "map", "values": values}:
                return f"map<string,{self.ddl(values, space)}>"
            case {"type": "enum"}:
                return "string"
            case {"type": "fixed"}:
                return "binary"
            case {"type": inner_type}:
                return self.ddl(inner_type, space)
        raise SerdeError(f"this is no Avro schema: {schema!r}")

    def _union(self, branches: list[Any], space: str) -> str:
        if len(branches) == 1:
            return self.ddl(branches[0], space)
        if set(map(str, branches)) == {"int", "long"}:
            return "bigint"
        if set(map(str, branches)) == {"float", "double"}:
            return "double"
        members = (f"member{index}:{self.ddl(branch, space)}" for index, branch in enumerate(branches))
        return f"struct<{','.join(members)}>"

    def _known(self, name: str, space: str) -> str:
        for full in (_full(name, space), name):
            if full in self._named:
                if (ddl := self._named[full]) is None:
                    raise SerdeError(f"the Avro type `{name}` contains itself", remedy="a Spark type ends")
                return ddl
        raise SerdeError(f"the Avro type `{name}` is not known", remedy="define it where it is used first")


def _full(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"


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
