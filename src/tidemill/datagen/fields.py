"""The language of fields: `uniform(1, 100)`, `zipf(u1..u50)`, `words(4, 9)`; each becomes a function."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

from tidemill.datagen.texts import OPINIONS, WORDS
from tidemill.errors import UsageError


@dataclass
class Moment:
    """What a field may look at: chance, the record's number and time, and the fields drawn before it."""

    chance: Random
    index: int = 0
    time: int = 0
    row: dict[str, Any] = field(default_factory=dict)


Draw = Callable[[Moment], Any]


def field_of(text: str, *, values: int | None = None) -> Draw:
    """The function a field's text stands for; `values` overrides how many values a range has.

    >>> draw = field_of("choice(a, b, c)")
    >>> draw(Moment(Random(1))) in {"a", "b", "c"}
    True
    >>> [field_of("cycle(c1..c3)")(Moment(Random(1), index)) for index in range(4)]
    ['c1', 'c2', 'c3', 'c1']
    """
    match = _CALL.fullmatch(text.strip())
    if match is None:
        return _constant(_plain(text.strip()))
    name, inner = match["name"], match["inner"]
    make = _KINDS.get(name)
    if make is None:
        raise UsageError(f"there is no distribution `{name}`", remedy=f"there are: {', '.join(_KINDS)}")
    words = _arguments(inner)
    if values is not None:
        words = _resized(words, values, text)
    try:
        return make(words)
    except (ValueError, IndexError, TypeError) as error:
        raise UsageError(
            f"`{text}` is not understood: {error}", remedy=f"write {name}{_FORMS[name]}"
        ) from error


def _uniform(words: Sequence[str]) -> Draw:
    low, high = _plain(words[0]), _plain(words[1])
    if isinstance(low, int) and isinstance(high, int):
        return lambda moment: low + int(moment.chance.random() * (high - low + 1))
    digits = _digits(words, 2)
    return lambda moment: round(low + moment.chance.random() * (high - low), digits)


def _normal(words: Sequence[str]) -> Draw:
    mean, spread, digits = float(words[0]), float(words[1]), _digits(words, 2)
    return lambda moment: round(moment.chance.normalvariate(mean, spread), digits)


def _lognormal(words: Sequence[str]) -> Draw:
    from math import log

    middle, spread, digits = log(float(words[0])), float(words[1]), _digits(words, 2)
    return lambda moment: round(moment.chance.lognormvariate(middle, spread), digits)


def _exponential(words: Sequence[str]) -> Draw:
    mean, digits = float(words[0]), _digits(words, 1)
    return lambda moment: round(moment.chance.expovariate(1 / mean), digits)


def _walk(words: Sequence[str]) -> Draw:
    """A walk of its own for every key."""
    start, step, digits = float(words[0]), float(words[1]), _digits(words, 2)
    at: dict[Any, float] = {}

    def draw(moment: Moment) -> float:
        key = moment.row.get("key")
        at[key] = at.get(key, start) + moment.chance.normalvariate(0, step)
        return round(at[key], digits)

    return draw


def _choice(words: Sequence[str]) -> Draw:
    values = _values(words)
    return lambda moment: values[int(moment.chance.random() * len(values))]


def _zipf(words: Sequence[str]) -> Draw:
    values = _values(words)
    return _ranked(values, [1 / rank for rank in range(1, len(values) + 1)])


def _weighted(words: Sequence[str]) -> Draw:
    pairs = [word.rpartition(":") for word in words]
    return _ranked([_plain(value) for value, _, _ in pairs], [float(weight) for _, _, weight in pairs])


def _ranked(values: Sequence[Any], weights: Sequence[float]) -> Draw:
    sums = list(itertools.accumulate(weights))
    return lambda moment: values[bisect.bisect(sums, moment.chance.random() * sums[-1], hi=len(values) - 1)]


def _cycle(words: Sequence[str]) -> Draw:
    values = _values(words)
    return lambda moment: values[moment.index % len(values)]


def _sequence(words: Sequence[str]) -> Draw:
    match = re.fullmatch(r"(.*?)(\d+)", words[0] if words else "1")
    if match is None:
        raise ValueError("it has no number to begin with")
    prefix, first = match[1], int(match[2])
    if not prefix:
        return lambda moment: first + moment.index
    return lambda moment: f"{prefix}{first + moment.index}"


def _chance(words: Sequence[str]) -> Draw:
    share = float(words[0])
    return lambda moment: moment.chance.random() < share


def _words(words: Sequence[str], source: Sequence[str] = WORDS) -> Draw:
    low, high = int(words[0]), int(words[1])

    def draw(moment: Moment) -> str:
        count = low + int(moment.chance.random() * (high - low + 1))
        return " ".join(source[int(moment.chance.random() * len(source))] for _ in range(count))

    return draw


def _opinion(words: Sequence[str]) -> Draw:
    return _words(words, OPINIONS)


def _time(_: Sequence[str]) -> Draw:
    return lambda moment: moment.time


def _iso(_: Sequence[str]) -> Draw:
    return lambda moment: datetime.fromtimestamp(moment.time / 1000, UTC).isoformat(timespec="milliseconds")


def _text(words: Sequence[str]) -> Draw:
    form = words[0]
    return lambda moment: form.format_map(moment.row)


def _constant(value: Any) -> Draw:
    return lambda moment: value  # noqa: ARG005 -- a draw takes the moment, even one that ignores it


def _digits(words: Sequence[str], place: int) -> int:
    return int(words[place]) if len(words) > place else 2


def _values(words: Sequence[str]) -> list[Any]:
    found = [value for word in words for value in _range(word)]
    if not found:
        raise ValueError("it has no values")
    return found


def _range(word: str) -> list[Any]:
    match = _RANGE.fullmatch(word)
    if match is None:
        return [_plain(word)]
    first, last = int(match["first"]), int(match["last"])
    return [_plain(f"{match['prefix']}{number}") for number in range(first, last + 1)]


def _resized(words: list[str], count: int, text: str) -> list[str]:
    ranges = [match for word in words if (match := _RANGE.fullmatch(word))]
    if len(words) == 1 and ranges:
        match = ranges[0]
        return [f"{match['prefix']}{match['first']}..{match['prefix']}{int(match['first']) + count - 1}"]
    if count > len(words):
        raise UsageError(
            f"`{text}` has {len(words)} keys, {count} were asked for",
            where="--keys",
            remedy="give --key 'choice(k1..k100)' to have as many as you like",
        )
    return words[:count]


def _plain(word: str) -> Any:
    """A number where it looks like one, a text otherwise."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"true": True, "false": False, "null": None}.get(word, word)


def _arguments(inner: str) -> list[str]:
    """Words between commas; quotes keep commas together."""
    found = re.findall(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^,]*))\s*(?:,|$)', inner)
    words = [quoted.replace('\\"', '"') or plain.strip() for quoted, plain in found]
    return words[:-1] if words and not words[-1] else words


_CALL = re.compile(r"(?P<name>[a-z]+)\((?P<inner>.*)\)", flags=re.DOTALL)
_RANGE = re.compile(r"(?P<prefix>.*?)(?P<first>\d+)\.\.(?P=prefix)(?P<last>\d+)")

_KINDS: dict[str, Callable[[Sequence[str]], Draw]] = {
    "uniform": _uniform,
    "normal": _normal,
    "lognormal": _lognormal,
    "exponential": _exponential,
    "walk": _walk,
    "choice": _choice,
    "zipf": _zipf,
    "weighted": _weighted,
    "cycle": _cycle,
    "sequence": _sequence,
    "chance": _chance,
    "words": _words,
    "opinion": _opinion,
    "time": _time,
    "iso": _iso,
    "text": _text,
}
_FORMS = {
    "uniform": "(low, high[, digits])",
    "normal": "(mean, deviation[, digits])",
    "lognormal": "(median, sigma[, digits])",
    "exponential": "(mean[, digits])",
    "walk": "(start, step[, digits])",
    "choice": "(a, b, ...) or (a1..a9)",
    "zipf": "(a, b, ...) or (a1..a9), the first most often",
    "weighted": "(a:9, b:1)",
    "cycle": "(a, b, ...) or (a1..a9)",
    "sequence": "(1) or (order-1)",
    "chance": "(share)",
    "words": "(fewest, most)",
    "opinion": "(fewest, most)",
    "time": "()",
    "iso": "()",
    "text": '("{field} and {other}")',
}


def distributions() -> dict[str, str]:
    """What can be written for a field: the name and its arguments."""
    return dict(_FORMS)
