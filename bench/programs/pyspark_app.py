"""The workloads in PySpark, written by hand: native operators, Spark's own Kafka sink."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemill.kafka.jars import resolve
from tidemill.kafka.java import find_java, spark_java_home

EVENT = "id long, user string, amount long"
Job = dict[str, Any]


def project(spark: SparkSession, job: Job) -> DataFrame:
    """W0."""
    rows = _events(spark, job, "events").where("amount >= 500")
    total = (F.col("amount") * 3).alias("total")
    return rows.select("key", F.to_json(F.struct("id", "user", total)).alias("value"))


def word_count(spark: SparkSession, job: Job) -> DataFrame:
    """W1."""
    lines = _read(spark, job, "lines").select(F.col("value").cast("string").alias("line"))
    words = lines.select(F.explode(F.split("line", " ")).alias("word"))
    return _text(words.groupBy("word").count(), F.col("word"), "count")


def tumbling_sum(spark: SparkSession, job: Job) -> DataFrame:
    """W2."""
    rows = _events(spark, job, "events").withWatermark("timestamp", "5 seconds")
    sums = rows.groupBy("key", F.window("timestamp", "10 seconds")).agg(F.sum("amount").alias("total"))
    return _text(sums, _windowed("key"), "total")


def stream_table_join(spark: SparkSession, job: Job) -> DataFrame:
    """W4: the table is read once and sent to every task."""
    located = _located(spark, job)
    return located.select("key", F.to_json(F.struct("id", "amount", "city")).alias("value"))


def stream_stream_join(spark: SparkSession, job: Job) -> DataFrame:
    """W5."""
    left, right = (
        _events(spark, job, side)
        .withWatermark("timestamp", "5 seconds")
        .select(
            F.col("key").alias(f"{side}_key"), F.col("id").alias(side), F.col("timestamp").alias(f"{side}_at")
        )
        for side in ("left", "right")
    )
    near = (
        "left_key = right_key and right_at >= left_at - interval 5 seconds"
        " and right_at <= left_at + interval 5 seconds"
    )
    pairs = left.join(right, F.expr(near))
    return pairs.select(F.col("left_key").alias("key"), F.to_json(F.struct("left", "right")).alias("value"))


def table_table_join(spark: SparkSession, job: Job) -> DataFrame:
    """W6: the newest row of each side, by one aggregation over both."""
    sides = [
        _events(spark, job, side).select("key", "id", "offset", F.lit(side).alias("side"))
        for side in ("left", "right")
    ]
    newest = [
        F.max_by("id", F.when(F.col("side") == side, F.col("offset"))).alias(side)
        for side in ("left", "right")
    ]
    both = F.col("left").isNotNull() & F.col("right").isNotNull()
    joined = sides[0].union(sides[1]).groupBy("key").agg(*newest).where(both)
    return joined.select("key", F.to_json(F.struct("left", "right")).alias("value"))


def join_then_count(spark: SparkSession, job: Job) -> DataFrame:
    """W7."""
    located = _located(spark, job).withWatermark("timestamp", "1 hour")
    counts = located.groupBy("city", F.window("timestamp", "10 seconds")).count()
    return _text(counts, _windowed("city"), "count")


def sum_per_key(spark: SparkSession, job: Job) -> DataFrame:
    """The sum of each key."""
    sums = _events(spark, job, "events").groupBy("key").agg(F.sum("amount").alias("total"))
    return _text(sums, F.col("key"), "total")


def main(job: Job) -> None:
    """Run one job until it is killed."""
    spark = _session(job)
    spark.sparkContext.setLogLevel("ERROR")
    query = (
        WORKLOADS[job["workload"]](spark, job)
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", job["bootstrap"])
        .option("topic", job["output"])
        # Spark's own sink sends every record at once by default; this is what an expert would set.
        .option("kafka.linger.ms", "50")
        .option("kafka.batch.size", str(256 << 10))
        .option("kafka.compression.type", "lz4")
        .option("checkpointLocation", f"{job['state_dir']}/checkpoint")
        .outputMode("append" if job["workload"] == "W5" else "update")
        .start()
    )
    done, seen = 0, -1
    progress = Path(job["progress_file"])
    while query.isActive:
        for report in query.recentProgress:
            if report["batchId"] > seen:
                seen = report["batchId"]
                done += report["numInputRows"]
        progress.write_text(str(done))
        time.sleep(0.1)
    print(query.exception())
    sys.exit(3)


def _session(job: Job) -> SparkSession:
    os.environ["JAVA_HOME"] = str(spark_java_home(find_java()))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    state = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    settings = {
        "spark.jars": ",".join(str(jar) for jar in resolve("spark-kafka")),
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(job["threads"]),
        "spark.sql.streaming.stateStore.providerClass": state,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        **job["settings"],
    }
    builder = SparkSession.builder.master(f"local[{job['threads']}]").appName(job["application_id"])
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _read(spark: SparkSession, job: Job, role: str) -> DataFrame:
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", job["bootstrap"])
        .option("subscribe", job["inputs"][role])
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", str(max(10_000, min(500_000, job["records"] // 5))))
        .load()
    )


def _events(spark: SparkSession, job: Job, role: str) -> DataFrame:
    return _parsed(_read(spark, job, role), EVENT).select("key", "timestamp", "offset", "row.*")


def _parsed(rows: DataFrame, schema: str) -> DataFrame:
    row = F.from_json(F.col("value").cast("string"), schema).alias("row")
    return rows.select(F.col("key").cast("string").alias("key"), "timestamp", "offset", row)


def _located(spark: SparkSession, job: Job) -> DataFrame:
    rows = (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", job["bootstrap"])
        .option("subscribe", job["inputs"]["table"])
        .load()
    )
    people = _parsed(rows, "name string, city string").select("key", "row.city").cache()
    return _events(spark, job, "events").join(F.broadcast(people), "key")


def _windowed(key: str) -> Column:
    return F.concat(F.col(key), F.lit("@"), F.unix_millis("window.start").cast("string"))


def _text(rows: DataFrame, key: Column, value: str) -> DataFrame:
    return rows.select(key.cast("string").alias("key"), F.col(value).cast("string").alias("value"))


WORKLOADS: dict[str, Callable[[SparkSession, Job], DataFrame]] = {
    "W0": project,
    "W1": word_count,
    "W2": tumbling_sum,
    "W4": stream_table_join,
    "W5": stream_stream_join,
    "W6": table_table_join,
    "W7": join_then_count,
    "sum": sum_per_key,
}

if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
