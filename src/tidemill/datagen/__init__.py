"""Made-up records: what `tidemill datagen`, the demo and the examples feed their topics with."""

from tidemill.datagen.generate import Made, make
from tidemill.datagen.ready import READY
from tidemill.datagen.schema import Schema, load_schema

__all__ = ["READY", "Made", "Schema", "load_schema", "make"]
