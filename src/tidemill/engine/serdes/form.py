"""The table of serdes and their Spark forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from tidemill.errors import UsageError
from tidemill.serde.base import Serde


class Form:
    """How Spark runs one kind of serde."""

    reads_everything = False
    """Whether no bytes are broken."""

    def decode(self, _serde: Any, _data: Column, /) -> Column:
        """The value of bytes; null where they do not parse."""
        raise NotImplementedError

    def encode(self, _serde: Any, _value: Column, /) -> Column:
        """The bytes of a value."""
        raise NotImplementedError

    def means_null(self, _serde: Any, _data: Column, /) -> Column:
        """Whether the bytes are there and say null."""
        return F.lit(False)

    def is_python(self, _serde: Any, /) -> bool:
        """Whether Spark needs Python to run it."""
        return False


def runs(*serdes: type[Serde]) -> Callable[[type[Form]], type[Form]]:
    """Enter a form into the table."""

    def enter(form: type[Form]) -> type[Form]:
        _FORMS.update(dict.fromkeys(serdes, form()))
        return form

    return enter


def form_of(serde: Serde) -> Form:
    """The form of a serde; a subclass has that of its base."""
    for kind in type(serde).__mro__:
        if kind in _FORMS:
            return _FORMS[kind]
    raise UsageError(
        f"Spark does not know the {serde.name} serde",
        remedy="make it with serdes.custom, which takes any two Python functions",
    )


_FORMS: Final[dict[type, Form]] = {}
