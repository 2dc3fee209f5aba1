"""Serdes run by Spark, and a schema registry inside the test process."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import zip_longest
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from tidemill.engine import serdes as native
from tidemill.serde import Serde


@dataclass(frozen=True)
class Native:
    """Serdes run by Spark; many share one job, for a job costs more than its values."""

    spark: SparkSession

    def round_trips(self, *cases: tuple[Any, ...]) -> list[tuple[list[bytes | None], list[Any]]]:
        """For each (serde, values[, type]) the bytes and what is read from them, `BROKEN` where nothing."""
        frame = self._frame([(values, (*type_, serde.schema)[0]) for serde, values, *type_ in cases])
        written = frame.select(
            *(native.encode(case[0], F.col(f"c{i}")).alias(f"c{i}") for i, case in enumerate(cases))
        )
        rows = self._decoded(written, [case[0] for case in cases])
        sizes = [len(case[1]) for case in cases]
        return [
            ([_plain(row[f"c{i}"]) for row in rows[:size]], [_value(row, i) for row in rows[:size]])
            for i, size in enumerate(sizes)
        ]

    def decode_all(self, *cases: tuple[Serde, Sequence[bytes | None]]) -> list[list[Any]]:
        """For each (serde, bytes) the values, `BROKEN` where there is none."""
        frame = self._frame([(data, "binary") for _, data in cases])
        rows = self._decoded(frame, [serde for serde, _ in cases])
        return [[_value(row, i) for row in rows[: len(data)]] for i, (_, data) in enumerate(cases)]

    def encode(self, serde: Serde, values: Sequence[Any], type_: str | None = None) -> list[bytes | None]:
        frame = self._frame([(values, type_ or serde.schema)])
        written = frame.select(native.encode(serde, F.col("c0")).alias("data"))
        return [_plain(row.data) for row in written.collect()]

    def decode(self, serde: Serde, data: Sequence[bytes | None]) -> list[Any]:
        return self.decode_all((serde, data))[0]

    def _frame(self, columns: Sequence[tuple[Sequence[Any], str]]) -> DataFrame:
        rows = list(zip_longest(*(values for values, _ in columns)))
        ddl = ", ".join(f"c{i} {type_}" for i, (_, type_) in enumerate(columns))
        return self.spark.createDataFrame(rows, ddl).coalesce(1)

    def _decoded(self, frame: DataFrame, serdes: Sequence[Serde]) -> list[Row]:
        columns = [F.col(f"c{i}") for i in range(len(serdes))]
        for i, serde in enumerate(serdes):
            value = native.decode(serde, F.col(f"c{i}"))
            broken = native.is_broken(serde, F.col(f"c{i}"), value)
            columns += [value.alias(f"v{i}"), broken.alias(f"b{i}")]
        return frame.select(*columns).collect()


def _value(row: Row, i: int) -> Any:
    assert not (row[f"b{i}"] and row[f"v{i}"] is not None)
    return "BROKEN" if row[f"b{i}"] else _plain(row[f"v{i}"])


@pytest.fixture(scope="session")
def run(spark: SparkSession) -> Native:
    return Native(spark)


def _plain(value: Any) -> Any:
    if hasattr(value, "asDict"):
        return {name: _plain(item) for name, item in value.asDict().items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return bytes(value) if isinstance(value, bytearray) else value


@dataclass
class RegistryDouble:
    """The routes of a schema registry that clients of ours and of others use, over real HTTP."""

    login: str | None = None
    schemas: list[dict[str, Any]] = field(default_factory=list)
    subjects: dict[str, list[int]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def register(self, subject: str, body: dict[str, Any]) -> dict[str, Any]:
        kept = {key: body[key] for key in ("schema", "schemaType", "references") if body.get(key)}
        if kept not in self.schemas:
            self.schemas.append(kept)
        id_ = self.schemas.index(kept) + 1
        versions = self.subjects.setdefault(subject, [])
        if id_ not in versions:
            versions.append(id_)
        return {"id": id_, "version": versions.index(id_) + 1}

    def answer(self, method: str, path: list[str], body: Any) -> tuple[int, Any]:
        match method, path:
            case "GET", ["schemas", "ids", id_] if 0 < int(id_) <= len(self.schemas):
                return 200, self.schemas[int(id_) - 1]
            case "POST", ["subjects", subject, "versions"]:
                return 200, self.register(subject, body)
            case "POST", ["subjects", subject] if subject in self.subjects:
                known = self.register(subject, body)
                return 200, {"subject": subject, **known, "schema": body["schema"]}
            case "GET", ["subjects", subject, "versions", version] if subject in self.subjects:
                versions = self.subjects[subject]
                number = len(versions) if version == "latest" else int(version)
                id_ = versions[number - 1]
                return 200, {"subject": subject, "version": number, "id": id_, **self.schemas[id_ - 1]}
        return 404, {"error_code": 40401, "message": "not found"}


class _Handler(BaseHTTPRequestHandler):
    double: RegistryDouble

    def do_GET(self) -> None:
        self._reply("GET", None)

    def do_POST(self) -> None:
        self._reply("POST", json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _reply(self, method: str, body: Any) -> None:
        self.double.requests.append(f"{method} {self.path}")
        path = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        login = self.double.login
        wanted = None if login is None else f"Basic {base64.b64encode(login.encode()).decode()}"
        if wanted is not None and self.headers.get("Authorization") != wanted:
            status, answer = 401, {"error_code": 401, "message": "who are you"}
        else:
            status, answer = self.double.answer(method, path, body)
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def registry() -> Iterator[RegistryDouble]:
    double = RegistryDouble()
    handler = type("Handler", (_Handler,), {"double": double})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    double.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield double
    server.shutdown()
    server.server_close()
