"""Serdes of two Python functions, as Arrow UDFs."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

import pytest

from tidemill import serdes
from tidemill.engine.serdes import runs_python


@dataclasses.dataclass
class Point:
    x: int
    y: float | None


def _read_point(data: bytes) -> Point:
    x, y = ast.literal_eval(data.decode())
    return Point(x, y)


REVERSE = serdes.custom("reverse", str, encode=lambda v: v[::-1].encode(), decode=lambda d: d.decode()[::-1])
POINT = serdes.custom("point", Point, encode=lambda v: repr((v["x"], v["y"])).encode(), decode=_read_point)
COUNTS = serdes.custom(
    "counts",
    dict[str, int],
    encode=lambda v: repr(sorted(v.items())).encode(),
    decode=lambda d: dict(ast.literal_eval(d.decode())),
)


def test_functions_run_in_spark(run: Any) -> None:
    texts = ["abc", "", "é😀", None]
    points = [{"x": 1, "y": 2.5}, {"x": -1, "y": None}, None]
    counts = [{"a": 1, "b": 2}, {}, None]
    nested = [["abc", None], [], None]
    windows = serdes.time_windowed(REVERSE, 10)
    read = run.round_trips(
        (REVERSE, texts), (POINT, points), (COUNTS, counts), (serdes.list_of(REVERSE), nested)
    )
    assert [values for _, values in read] == [texts, points, counts, nested]
    assert read[0][0] == [REVERSE.encode(text) for text in texts]
    assert read[3][0] == [serdes.list_of(REVERSE).encode(item) for item in nested]
    assert run.decode(windows, [b"ba" + bytes(8)])[0]["key"] == "ab"


def test_bytes_a_decoder_refuses_are_broken(run: Any) -> None:
    cases = [(REVERSE, [b"\xff", b"ok"]), (POINT, [b"(1,", b"(1, 2.0)"]), (serdes.list_of(REVERSE), [b"x"])]
    assert run.decode_all(*cases) == [["BROKEN", "ko"], ["BROKEN", {"x": 1, "y": 2.0}], ["BROKEN"]]


def test_value_an_encoder_refuses_fails_the_query(run: Any) -> None:
    with pytest.raises(Exception, match="is no refuse value"):
        run.encode(serdes.custom("refuse", str, encode=lambda v: v + 1, decode=bytes.decode), ["x"])


def test_only_these_need_python() -> None:
    assert runs_python(serdes.list_of(REVERSE))
    assert runs_python(serdes.time_windowed(REVERSE, 1))
    assert not any(map(runs_python, (serdes.long, serdes.json("a int"), serdes.list_of(serdes.string))))
