"""Two requests of the Kafka protocol, spoken over a plain socket: is it our broker, and is it complete?

A health check must not need a client library, and clients do not show the finalized feature levels on which
exactly-once depends.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

_API_VERSIONS = 18
_METADATA = 3
_CLIENT = b"tidemill-health"


@dataclass(frozen=True)
class ClusterView:
    """What one broker says of its cluster."""

    cluster_id: str | None
    brokers: tuple[int, ...]


def finalized_features(host: str, port: int, timeout: float = 5.0) -> dict[str, int]:
    """The feature levels the cluster runs at, such as `transaction.version`."""
    # A flexible request: header version 2, compact strings, tagged fields.
    body = b"\0" + _compact(_CLIENT) + _compact(b"1") + b"\0"
    answer = _Reader(_ask(host, port, _API_VERSIONS, 4, body, timeout))
    error = answer.number(">h")
    if error:
        raise ConnectionError(f"ApiVersions failed with error {error}")
    for _ in range(answer.varint() - 1):
        answer.skip(6)
        answer.skip_tags()
    answer.skip(4)  # throttle time
    features = {}
    for _ in range(answer.varint()):
        tag, size = answer.varint(), answer.varint()
        if tag != 2:
            answer.skip(size)
            continue
        for _ in range(answer.varint() - 1):
            name = answer.take(answer.varint() - 1).decode()
            features[name] = answer.number(">h")
            answer.skip(2)  # the lowest level, always equal
            answer.skip_tags()
    return features


def cluster_view(host: str, port: int, timeout: float = 5.0) -> ClusterView:
    """The cluster id and the brokers that are registered, as this broker knows them."""
    body = struct.pack(">i?", 0, False)  # no topics, create none
    answer = _Reader(_ask(host, port, _METADATA, 7, body, timeout))
    answer.skip(4)  # throttle time
    brokers = []
    for _ in range(answer.number(">i")):
        brokers.append(answer.number(">i"))
        answer.string()
        answer.skip(4)
        answer.string()
    return ClusterView(answer.string(), tuple(sorted(brokers)))


def _ask(host: str, port: int, api: int, version: int, body: bytes, timeout: float) -> bytes:
    request = struct.pack(">hhi", api, version, 1) + struct.pack(">h", len(_CLIENT)) + _CLIENT + body
    with socket.create_connection((host, port), timeout=timeout) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        (size,) = struct.unpack(">i", _receive(connection, 4))
        answer = _receive(connection, size)
    return answer[4:]  # behind the correlation id


def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        chunk = connection.recv(size - len(received))
        if not chunk:
            raise ConnectionError("the broker closed the connection")
        received += chunk
    return bytes(received)


def _compact(text: bytes) -> bytes:
    return bytes([len(text) + 1]) + text


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise ConnectionError("the broker's answer is too short")
        self._at += size
        return taken

    def skip(self, size: int) -> None:
        self.take(size)

    def number(self, layout: str) -> int:
        (value,) = struct.unpack(layout, self.take(struct.calcsize(layout)))
        return int(value)

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def string(self) -> str | None:
        size = self.number(">h")
        return None if size < 0 else self.take(size).decode()

    def skip_tags(self) -> None:
        for _ in range(self.varint()):
            self.varint()
            self.skip(self.varint())
