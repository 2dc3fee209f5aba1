"""A client of a schema registry: schemas by id, the latest of a subject, registering."""

from __future__ import annotations

import base64
import json
import struct
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from tidemill.serde.base import SerdeError

HEADER_LENGTH = 5
_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
_TIMEOUT_S = 30


class RegistryError(SerdeError):
    """The registry refused, or did not answer; `status` is that of HTTP, None where there was no answer."""

    code = "REGISTRY"

    def __init__(self, what: str, *, status: int | None = None, remedy: str | None = None) -> None:
        super().__init__(what, remedy=remedy)
        self.status = status


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema as the registry holds it."""

    text: str
    kind: str = "AVRO"
    references: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaRegistry:
    """One registry; what it answered once is asked no second time, for ids never change their schema."""

    url: str
    authorization: str | None = field(default=None, repr=False)
    _schemas: dict[int, RegisteredSchema] = field(default_factory=dict, repr=False, compare=False)
    _ids: dict[tuple[str, str], int] = field(default_factory=dict, repr=False, compare=False)

    def schema(self, id_: int) -> RegisteredSchema:
        """The schema of an id."""
        if id_ not in self._schemas:
            self._schemas[id_] = _schema(self._ask(f"/schemas/ids/{id_}"))
        return self._schemas[id_]

    def version(self, subject: str, version: int | str = "latest") -> RegisteredSchema:
        """One version of a subject."""
        return _schema(self._ask(f"/subjects/{quote(subject, safe='')}/versions/{version}"))

    def number_of_latest(self, subject: str) -> int:
        """The number of a subject's latest version."""
        return int(self._ask(f"/subjects/{quote(subject, safe='')}/versions/latest")["version"])

    def register(
        self, subject: str, text: str, *, kind: str = "AVRO", references: Sequence[Mapping[str, Any]] = ()
    ) -> int:
        """The id of a schema under a subject; a schema that is new to the registry gets one."""
        if (subject, text) not in self._ids:
            body: dict[str, Any] = {"schema": text}
            if kind != "AVRO":
                body["schemaType"] = kind
            if references:
                body["references"] = list(references)
            self._ids[subject, text] = self._ask(f"/subjects/{quote(subject, safe='')}/versions", body)["id"]
        return self._ids[subject, text]

    def _ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": _MEDIA_TYPE, "Content-Type": _MEDIA_TYPE}
        if self.authorization is not None:
            headers["Authorization"] = self.authorization
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise RegistryError(
                f"`{self.url}` is no address of a schema registry", remedy="begin with http://"
            )
        request = urllib.request.Request(self.url + path, data, headers)  # noqa: S310  checked above
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise RegistryError(
                f"the schema registry at {self.url} answers {error.code} to {path}: {_reason(error)}",
                status=error.code,
            ) from error
        except OSError as error:
            raise RegistryError(
                f"the schema registry at {self.url} does not answer: {error}",
                remedy="check the address, and that the registry runs",
            ) from error


def address(url: str) -> tuple[str, str | None]:
    """A registry's address without its login, and the login as a header.

    >>> address("http://me:secret@host:8081/")
    ('http://host:8081', 'Basic bWU6c2VjcmV0')
    """
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    plain = urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
    if not at:
        return plain, None
    decoded = unquote(login)
    return plain, f"Basic {base64.b64encode(decoded.encode()).decode()}"


def with_id(id_: int, body: bytes) -> bytes:
    """A message of the wire format: a zero byte, the schema's id, the body."""
    return struct.pack(">bI", 0, id_) + body


def split_id(data: bytes) -> tuple[int, bytes]:
    """The schema's id and the body of a message in the wire format."""
    if len(data) < HEADER_LENGTH or data[0] != 0:
        raise SerdeError("the bytes do not begin with a zero byte and a schema's id", value=data)
    return struct.unpack(">I", data[1:HEADER_LENGTH])[0], data[HEADER_LENGTH:]


def _schema(answer: Mapping[str, Any]) -> RegisteredSchema:
    references = tuple(answer.get("references") or ())
    return RegisteredSchema(answer["schema"], answer.get("schemaType") or "AVRO", references)


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["message"])
    except (ValueError, KeyError, TypeError):
        return str(error.reason)
