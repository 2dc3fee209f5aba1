"""Values in the type their serde declares: fields by name, not by place."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType


def fit(value: Column, type_: DataType) -> Column:
    """The value in a type; a field the declaration lacks is left out, one the value lacks is an error."""
    if not isinstance(type_, StructType) or not type_.fields:
        return value.cast(type_)
    fields = (fit(value[field.name], field.dataType).alias(field.name) for field in type_)
    return F.when(value.isNotNull(), F.struct(*fields))
