"""Reads texts of types: the words, the brackets, and errors that show the place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

from tidemill.errors import UsageError
from tidemill.types.model import Array, DataType, Decimal, Field, Map, Struct

DEEPEST = 100
"""Types nested deeper than this are refused, long before Python's own limit."""

T = TypeVar("T")


class TypeTextError(UsageError):
    """A text that should be a type is none.

    >>> print(TypeTextError("`INTT` is not a type", "a INTT", 2, remedy="write INT"))
    `INTT` is not a type (column 3 of `a INTT`)
    Remedy: write INT
    """

    code = "TYPE_TEXT"

    def __init__(self, what: str, text: str, at: int, *, remedy: str | None = None) -> None:
        shown = text if len(text) <= 80 else f"{text[max(0, at - 40) : at + 40]}"
        super().__init__(what, where=f"column {at + 1} of `{shown}`", remedy=remedy)
        self.at = at


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a name in back-quotes, a number, a text or a sign."""

    kind: str
    value: str
    at: int


_TOKEN = re.compile(
    r"""(?P<blank>\s+)
    | (?P<number>\d+(?![\w@]))
    | (?P<word>[\w@]+)
    | `(?P<quoted>(?:[^`]|``)*)`
    | '(?P<text>(?:[^'\\]|\\.|'')*)'
    | (?P<sign>[<>(),:])""",
    re.VERBOSE,
)


class Reader:
    """The tokens of one text, taken one by one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))
        self.next = 0
        self.depth = 0

    def peek(self) -> Token:
        """The token to come."""
        return self.tokens[self.next]

    def take(self) -> Token:
        """The token to come, which is passed."""
        token = self.tokens[self.next]
        self.next += token.kind != "end"
        return token

    def passes(self, value: str) -> bool:
        """Whether the sign or word comes next; it is passed then."""
        token = self.peek()
        found = token.kind in ("sign", "word") and token.value.upper() == value
        self.next += found
        return found

    def expect(self, value: str) -> None:
        """Pass the sign, or refuse the text."""
        if not self.passes(value):
            raise self.error(f"`{value}` is expected, {self.found()}")

    def number(self) -> int:
        """A whole number."""
        token = self.take()
        if token.kind != "number" or len(token.value) > 9:
            raise self.error(f"a whole number is expected, {self.found(token)}", token)
        return int(token.value)

    def name(self, unquoted: Callable[[str], str]) -> str:
        """A name, in back-quotes or not."""
        token = self.take()
        if token.kind == "quoted":
            return token.value
        if token.kind not in ("word", "number"):
            raise self.error(f"a name is expected, {self.found(token)}", token)
        return unquoted(token.value)

    def listed(self, item: Callable[[], T], close: str) -> Iterator[T]:
        """Items between commas, up to and with the closing sign."""
        yield item()
        while self.passes(","):
            yield item()
        self.expect(close)

    def done(self) -> None:
        """Refuse anything that is left."""
        if self.peek().kind != "end":
            raise self.error(f"the type ends before here, {self.found()}")

    def found(self, token: Token | None = None) -> str:
        """What stands there instead."""
        token = token or self.peek()
        return "the text ends" if token.kind == "end" else f"`{token.value}` was found"

    def error(self, what: str, token: Token | None = None, remedy: str | None = None) -> TypeTextError:
        """An error at a token, at the coming one unless told."""
        return TypeTextError(what, self.text, (token or self.peek()).at, remedy=remedy)

    def unknown(self, token: Token, known: Iterable[str]) -> TypeTextError:
        """An error about a word that names no type."""
        near = get_close_matches(token.value.upper()[:40], sorted(known), n=1)
        remedy = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"
        return self.error(f"`{token.value}` is not a type", token, remedy)


@dataclass(frozen=True, slots=True)
class Notation:
    """How one language writes types: its words, and what it does with names."""

    scalars: dict[str, DataType]
    unquoted: Callable[[str], str]
    default_decimal: Decimal | None
    field_options: Callable[[Reader], bool]
    """Passes what may follow a field's type; whether it may be null."""

    def read(self, reader: Reader) -> DataType:
        """One type."""
        reader.depth += 1
        if reader.depth > DEEPEST:
            raise reader.error(f"types are nested deeper than {DEEPEST}")
        token = reader.take()
        if token.kind != "word":
            raise reader.error(f"a type is expected, {reader.found(token)}", token)
        found = self._named(token, reader)
        reader.depth -= 1
        return found

    def fields(self, reader: Reader) -> Field:
        """One field: name, type, options."""
        name = reader.name(self.unquoted)
        reader.passes(":")
        type_ = self.read(reader)
        return Field(name, type_, self.field_options(reader))

    def _named(self, token: Token, reader: Reader) -> DataType:
        word = token.value.upper()
        if word == "ARRAY":
            reader.expect("<")
            (element,) = self._several(reader, 1)
            return Array(element)
        if word == "MAP":
            reader.expect("<")
            key, value = self._several(reader, 2)
            return Map(key, value)
        if word == "STRUCT":
            reader.expect("<")
            if reader.passes(">"):
                return Struct()
            return Struct(tuple(reader.listed(lambda: self.fields(reader), ">")))
        if word in ("DECIMAL", "DEC", "NUMERIC"):
            return self._decimal(token, reader)
        if word not in self.scalars:
            raise reader.unknown(token, {*self.scalars, "ARRAY", "MAP", "STRUCT", "DECIMAL"})
        if word in ("VARCHAR", "CHAR") and reader.passes("("):
            reader.take()
            reader.expect(")")
        return self.scalars[word]

    def _several(self, reader: Reader, count: int) -> list[DataType]:
        found = [self.read(reader)]
        for _ in range(count - 1):
            reader.expect(",")
            found.append(self.read(reader))
        reader.expect(">")
        return found

    def _decimal(self, token: Token, reader: Reader) -> Decimal:
        if not reader.passes("("):
            if self.default_decimal is None:
                raise reader.error("DECIMAL needs its precision and scale", token, "write DECIMAL(10, 2)")
            return self.default_decimal
        numbers = list(reader.listed(reader.number, ")"))
        if len(numbers) > 2:
            raise reader.error("DECIMAL takes a precision and a scale", token, "write DECIMAL(10, 2)")
        try:
            return Decimal(*numbers)
        except ValueError as error:
            raise reader.error(str(error), token) from None


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise TypeTextError(f"`{text[at]}` has no place in a type", text, at)
        kind = match.lastgroup or ""
        if kind == "quoted":
            yield Token(kind, match[kind].replace("``", "`"), at)
        elif kind != "blank":
            yield Token(kind, match[kind], at)
        at = match.end()
    yield Token("end", "", len(text))
