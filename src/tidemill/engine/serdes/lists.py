"""Lists in the layout of Kafka's ListSerde, split and joined by the kernel."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType

from tidemill.engine.serdes.form import Form, form_of, runs
from tidemill.engine.serdes.jvm import convert, java
from tidemill.engine.serdes.python import PythonForm
from tidemill.engine.types import data_type
from tidemill.serde.lists import ListSerde
from tidemill.serde.primitive import NumberSerde


@runs(ListSerde)
class ListForm(Form):
    """Elements that are numbers are read in place; others are bytes first and values then."""

    def decode(self, serde: ListSerde, data: Column, /) -> Column:
        if self.is_python(serde):
            return _PYTHON.decode(serde, data)
        if isinstance(serde.inner, NumberSerde):
            return convert(data, "ListReader", java(data_type(serde.inner.schema)), serde.width)
        inner = form_of(serde.inner)
        parts = convert(data, "ListReader", java(BinaryType()), serde.width or 0)
        values = F.transform(parts, lambda part: inner.decode(serde.inner, part))
        return F.when(~F.exists(parts, lambda part: _is_broken(serde, part)), values)

    def encode(self, serde: ListSerde, value: Column, /) -> Column:
        if self.is_python(serde):
            return _PYTHON.encode(serde, value)
        inner = form_of(serde.inner)
        parts = F.transform(value, lambda item: inner.encode(serde.inner, item))
        return convert(parts, "ListWriter", serde.width or 0)

    def is_python(self, serde: ListSerde, /) -> bool:
        # Spark runs no Python function on the elements of an array: the whole list goes to Python then.
        return form_of(serde.inner).is_python(serde.inner)


_PYTHON = PythonForm()


def _is_broken(serde: ListSerde, part: Column) -> Column:
    inner = form_of(serde.inner)
    value = inner.decode(serde.inner, part)
    return part.isNotNull() & value.isNull() & ~inner.means_null(serde.inner, part)
