"""The quick reader of plain JSON says what the parser of all JSON says, whatever the text."""

from __future__ import annotations

import json
import random

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tidemill import serdes
from tidemill.engine import serdes as forms

FIELDS = "id bigint, n int, s smallint, b tinyint, x double, ok boolean, name string, `a b` string"
PLAIN = serdes.json(f"{FIELDS}, inner struct<id: bigint, name: string>")
# A date is not plain: the same text goes to the other parser.
SLOW = serdes.json(f"{FIELDS}, inner struct<id: bigint, name: string, day: date>, day date")

WHOLE = {
    "id": 7,
    "n": -5,
    "s": 3,
    "b": 1,
    "x": 1.5,
    "ok": True,
    "name": "Ann",
    "a b": "",
    "inner": {"id": 1, "name": "x"},
}
ODD = [
    *("", " ", "null", "{}", "[]", "{", "}", '{"id"', '{"id":', '{"id":1', '{"id":1,', '{"id":1,}', "{,}"),
    *('{"id":1}x', ' {"id" : 1 } ', '{"id":1}{"id":2}', '{"id":1,"id":2}', '{"ID":1}', '"text"', "7", "true"),
    *(
        '{"id":01}',
        '{"id":-0}',
        '{"id":-}',
        '{"id":1.0}',
        '{"id":1e2}',
        '{"id":"1"}',
        '{"id":true}',
        '{"id":nul}',
    ),
    *(
        '{"id":9223372036854775807}',
        '{"id":9223372036854775808}',
        '{"id":-9223372036854775808}',
        '{"id":[1]}',
    ),
    *(
        '{"n":2147483648}',
        '{"n":-2147483648}',
        '{"s":32768}',
        '{"b":-129}',
        '{"b":127}',
        '{"x":1}',
        '{"x":-0.0}',
    ),
    *(
        '{"x":1.}',
        '{"x":.5}',
        '{"x":00.5}',
        '{"x":1e400}',
        '{"x":1E-2}',
        '{"x":1e}',
        '{"x":"NaN"}',
        '{"x":NaN}',
    ),
    *(
        '{"ok":True}',
        '{"ok":falsey}',
        '{"ok":0}',
        '{"ok":null}',
        '{"name":7}',
        '{"name":{"a":1}}',
        "{'id':1}",
    ),
    *(
        '{"name":"a\\nb"}',
        '{"name":"\\u00e6"}',
        '{"name":"æøå"}',
        '{"name":"\t"}',
        '{"name":"a',
        '{"name":null}',
    ),
    *(
        '{"a b":"x"}',
        '{"\\u0069d":1}',
        '{"other":[1,{"id":2}],"id":3}',
        '{"other":"x","id":3}',
        '{"other":1.5e3}',
    ),
    *('{"other":tru,"id":3}', '{"other":nothing}', '{"inner":null}', '{"inner":[]}', '{"inner":{"id":2}}'),
    *('{"inner":{"id":2}', '{"inner":{"name":"y","id":4},"id":5}', "\ufeff{}", '{"id":1}\x00', '{"id" 1}'),
]


def texts(count: int) -> list[bytes]:
    """Odd ones, whole ones in any order, and whole ones with one byte changed, put in or taken out."""
    chance = random.Random(11)
    found = [text.encode() for text in ODD] + [b'{"name":"\xff"}', b'{"name":"\xc0\x80"}', b'{"\xff":1}']
    for _ in range(count):
        fields = list(WHOLE.items())
        chance.shuffle(fields)
        some = dict(fields[: chance.randint(0, len(fields))])
        spaced = chance.choice([None, (", ", ": "), (" ,", " :\n")])
        text = bytearray(json.dumps(some, separators=spaced or (",", ":")).encode())
        for _ in range(chance.randint(0, 2)):
            place = chance.randrange(len(text))
            text[place : place + chance.randint(0, 1)] = chance.choice(
                [b"", b'"', b"\\", b"0", b".", b"-", b"}", b","]
            )
        found.append(bytes(text))
    return found


def test_both_parsers_agree(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(text,) for text in texts(1500)], "text binary")
    plain, slow = (forms.decode(serde, F.col("text")) for serde in (PLAIN, SLOW))
    found = rows.select("text", plain.alias("plain"), slow.alias("slow")).collect()
    read = 0
    for text, quick, whole in found:
        if whole is None:
            assert quick is None, text
            continue
        expected = whole.asDict(recursive=True)
        expected.pop("day")
        if expected["inner"] is not None:
            expected["inner"].pop("day")
        assert quick is not None, text
        assert repr(quick.asDict(recursive=True)) == repr(expected), text
        read += 1
    assert 300 < read < len(found) - 300, "there must be plenty of both kinds"
