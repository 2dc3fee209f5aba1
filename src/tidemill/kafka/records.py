"""Records as people write and read them: number formats, JSON lines, percent formats."""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from tidemill.errors import UsageError

Headers = list[tuple[str, bytes | None]]


class Format(StrEnum):
    """How the bytes of a key or value are written as text."""

    string = "string"
    int = "int"
    long = "long"
    float = "float"
    double = "double"
    hex = "hex"
    base64 = "base64"
    windowed = "windowed"
    session = "session"


_STRUCT = {Format.int: ">i", Format.long: ">q", Format.float: ">f", Format.double: ">d"}


@dataclass(frozen=True)
class Record:
    """One record to write, or one read."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = field(default_factory=list)
    timestamp: int | None = None
    topic: str = ""
    partition: int = -1
    offset: int = -1


def encode(text: str, form: Format = Format.string) -> bytes:
    """Text to bytes, numbers big-endian as Kafka's own serializers write them.

    >>> encode("258", Format.long)
    b'\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x02'
    """
    try:
        match form:
            case Format.string:
                return text.encode(errors="surrogateescape")  # bytes that are no text pass through
            case Format.hex:
                return bytes.fromhex(text)
            case Format.base64:
                return base64.b64decode(text, validate=True)
            case Format.windowed | Format.session:
                return _windowed_bytes(text, form)
            case Format.int | Format.long:
                return struct.pack(_STRUCT[form], int(text))
            case _:
                return struct.pack(_STRUCT[form], float(text))
    except (ValueError, struct.error) as error:
        raise UsageError(
            f"`{text[:60]}` is not of the format {form}", remedy="correct the input or the format"
        ) from error


def decode(data: bytes | None, form: Format = Format.string, *, null: str = "") -> str:
    """Bytes to text, for eyes and pipes; bytes that do not fit the format are shown escaped."""
    if data is None:
        return null
    match form:
        case Format.string:
            return data.decode(errors="backslashreplace")
        case Format.hex:
            return data.hex()
        case Format.base64:
            return base64.b64encode(data).decode()
        case Format.windowed | Format.session:
            return _windowed_text(data, form)
        case _:
            number = decode_number(data, form)
            return data.hex() if number is None else str(number)


def decode_number(data: bytes, form: Format) -> int | float | None:
    """The number in the bytes, or None if they have another length."""
    layout = _STRUCT[form]
    if len(data) != struct.calcsize(layout):
        return None
    number: int | float = struct.unpack(layout, data)[0]
    return number


def _windowed_text(data: bytes, form: Format) -> str:
    """`key@start` or `key@start/end`, in milliseconds; a key is text, laid out as by Kafka Streams."""
    tail = 8 if form is Format.windowed else 16
    if len(data) < tail:
        return data.hex()
    key = data[:-tail].decode(errors="backslashreplace")
    if form is Format.windowed:
        return f"{key}@{struct.unpack('>q', data[-8:])[0]}"
    end, start = struct.unpack(">qq", data[-16:])
    return f"{key}@{start}/{end}"


def _windowed_bytes(text: str, form: Format) -> bytes:
    key, _, times = text.rpartition("@")
    if form is Format.windowed:
        return key.encode() + struct.pack(">q", int(times))
    start, _, end = times.partition("/")
    return key.encode() + struct.pack(">qq", int(end), int(start))


def from_json(line: str, *, key_form: Format = Format.string, value_form: Format = Format.string) -> Record:
    """A record from a JSON object with key, value, headers, timestamp, partition; reads `to_json`."""
    try:
        data = json.loads(line)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"not JSON: {line[:80]!r}", remedy='write lines as {"key": "a", "value": "b"}'
        ) from error
    if not isinstance(data, dict):
        raise UsageError(
            f"not a JSON object: {line[:80]!r}", remedy='write lines as {"key": "a", "value": "b"}'
        )
    return Record(
        value=_json_bytes(data, "value", value_form),
        key=_json_bytes(data, "key", key_form),
        headers=_json_headers(data.get("headers")),
        timestamp=_json_time(data.get("timestamp")),
        partition=-1 if data.get("partition") is None else int(data["partition"]),
    )


def to_json(
    record: Record, *, key_form: Format = Format.string, value_form: Format = Format.string
) -> dict[str, Any]:
    """A record as plain data; bytes that are no text go out as `key_base64` or `value_base64`."""
    out: dict[str, Any] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
    }
    for name, data, form in (("key", record.key, key_form), ("value", record.value, value_form)):
        out.update(_plain(name, data, form))
    out["headers"] = [{"key": name, **_plain("value", data, Format.string)} for name, data in record.headers]
    return out


def compile_format(
    template: str, *, key_form: Format = Format.string, value_form: Format = Format.string
) -> Callable[[Record], bytes]:
    r"""A function that writes records in kcat's or rpk's percent format.

    %t topic, %p partition, %o offset, %k key, %s or %v value, %T or %d timestamp (ms), %h headers, %K and %S
    the lengths, %% a percent sign; \n \t \r \\ \xHH as usual.

    >>> compile_format(r"%t[%p]@%o %k=%s\n")(Record(b"v", b"k", topic="t", partition=0, offset=7))
    b't[0]@7 k=v\n'
    """

    def key(record: Record) -> bytes:
        return _raw(record.key, key_form)

    def value(record: Record) -> bytes:
        return _raw(record.value, value_form)

    directives: dict[str, Callable[[Record], bytes]] = {
        "t": lambda record: record.topic.encode(),
        "p": lambda record: str(record.partition).encode(),
        "o": lambda record: str(record.offset).encode(),
        "k": key,
        "s": value,
        "v": value,
        "K": lambda record: str(-1 if record.key is None else len(record.key)).encode(),
        "S": lambda record: str(-1 if record.value is None else len(record.value)).encode(),
        "V": lambda record: str(-1 if record.value is None else len(record.value)).encode(),
        "T": lambda record: str(-1 if record.timestamp is None else record.timestamp).encode(),
        "d": lambda record: str(-1 if record.timestamp is None else record.timestamp).encode(),
        "h": lambda record: show_headers(record.headers).encode(),
        "%": lambda _: b"%",
    }
    pieces: list[Callable[[Record], bytes] | bytes] = []
    for part in re.split(r"(%.)", template, flags=re.DOTALL):
        if len(part) == 2 and part[0] == "%":
            if part[1] not in directives:
                raise UsageError(
                    f"the format has an unknown `{part}`",
                    where="-f",
                    remedy="use %t %p %o %k %s (or %v) %T (or %d) %h %K %S %%",
                )
            pieces.append(directives[part[1]])
        elif part:
            pieces.append(_unescape(part))
    return lambda record: b"".join(piece if isinstance(piece, bytes) else piece(record) for piece in pieces)


def show_headers(headers: Headers) -> str:
    """Headers on one line, as kcat writes them: `a=1,b=2`."""
    return ",".join(f"{name}={decode(value, null='NULL')}" for name, value in headers)


def show_time(timestamp: int | None) -> str:
    """A timestamp for people, in UTC to the millisecond."""
    if timestamp is None or timestamp < 0:
        return "-"
    try:
        moment = datetime.fromtimestamp(timestamp / 1000, UTC)
    except (OverflowError, ValueError):
        return str(timestamp)
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{timestamp % 1000:03d}"


def _raw(data: bytes | None, form: Format) -> bytes:
    if form is Format.string:
        return data or b""
    return decode(data, form).encode()


def _plain(name: str, data: bytes | None, form: Format) -> dict[str, Any]:
    if data is None:
        return {name: None}
    if form is Format.string:
        try:
            return {name: data.decode()}
        except UnicodeDecodeError:
            return {f"{name}_base64": base64.b64encode(data).decode()}
    if form in _STRUCT:
        number = decode_number(data, form)
        if number is not None:
            return {name: number if math.isfinite(number) else str(number)}
        return {f"{name}_base64": base64.b64encode(data).decode()}
    return {name: decode(data, form)}


def _json_bytes(data: dict[str, Any], name: str, form: Format) -> bytes | None:
    if f"{name}_base64" in data:
        return encode(str(data[f"{name}_base64"]), Format.base64)
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        return encode(value, form)
    if form is Format.string:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return encode(str(value), form)


def _json_headers(headers: Any) -> Headers:
    if not headers:
        return []
    if isinstance(headers, dict):
        return [
            (str(name), None if value is None else str(value).encode()) for name, value in headers.items()
        ]
    try:
        return [(str(header["key"]), _json_bytes(header, "value", Format.string)) for header in headers]
    except (TypeError, KeyError) as error:
        raise UsageError(
            "headers are neither an object nor a list of key and value",
            remedy='write {"headers": {"name": "value"}}',
        ) from error


def _json_time(value: Any) -> int | None:
    if value is None or isinstance(value, int):
        return value
    from tidemill.kafka.offsets import parse_time

    return parse_time(str(value))


def _unescape(text: str) -> bytes:
    named = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\"}

    def one(match: re.Match[str]) -> str:
        word = match[1]
        data = (
            bytes([int(word[1:], 16)])
            if word[0] == "x" and len(word) == 3
            else named.get(word, word.encode())
        )
        return data.decode("latin-1")

    return re.sub(r"\\(x[0-9a-fA-F]{2}|.)", one, text).encode("latin-1" if text.isascii() else "utf-8")
