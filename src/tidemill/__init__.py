"""Kafka Streams and ksqlDB for Python teams, executed by Spark."""

from tidemill._version import __version__

__all__ = ["__version__"]
