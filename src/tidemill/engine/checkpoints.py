"""Checkpoints in file systems that only Spark's JVM can reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemill.engine.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def delete_tree(location: str, spark: SparkSession | None = None) -> None:
    """Delete a folder and all in it, by the Hadoop file system its URI names; it may be gone already."""
    session = spark or spark_session("local[1]")
    jvm: Any = session._jvm
    path = jvm.org.apache.hadoop.fs.Path(location)
    files = path.getFileSystem(session._jsc.hadoopConfiguration())
    if files.exists(path):
        files.delete(path, True)
