"""A module beside the program, as users have them."""

from pyspark.sql import Column
from pyspark.sql import functions as F


def loud(word: Column) -> Column:
    return F.upper(word)
