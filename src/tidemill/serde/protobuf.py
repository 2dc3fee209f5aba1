"""Protobuf messages, described by a descriptor file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidemill.serde.base import Serde
from tidemill.serde.schema import ddl_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtobufSerde(Serde):
    """A Protobuf message; Spark reads the descriptor file written by `protoc --descriptor_set_out`."""

    name: str = "protobuf"
    message: str
    descriptor: str
    registry: str | None = None


def protobuf(
    message: str, descriptor: str, *, schema: Any = None, registry: str | None = None
) -> ProtobufSerde:
    """A message type of a descriptor file; `schema` is needed only where no Spark is at hand to infer it.

    >>> protobuf("shop.Order", "orders.desc").message
    'shop.Order'
    """
    ddl = "" if schema is None else ddl_of(schema)
    return ProtobufSerde(schema=ddl, message=message, descriptor=str(descriptor), registry=registry)
