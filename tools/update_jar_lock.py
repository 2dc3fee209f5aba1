"""Maintainer's script: writes src/tidemill/kafka/locks/*.json anew from the versions named here.

Downloads every jar from the repository Tidemill itself would use and pins size and SHA-512:

    .venv/bin/python tools/update_jar_lock.py            all sets
    .venv/bin/python tools/update_jar_lock.py oracle     one set
"""

from __future__ import annotations

import argparse
import hashlib
import json
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path

from tidemill.kafka.maven import Jar, repository_url

LOCKS = Path(__file__).parent.parent / "src/tidemill/kafka/locks"
KAFKA = "4.3.1"
LOGGING = ("slf4j-api", "log4j-api", "log4j-core", "log4j-slf4j2-impl")
COMPRESSION = ("lz4-java", "snappy-java", "zstd-jni")
JACKSON = ("jackson-annotations", "jackson-core", "jackson-databind")


@dataclass(frozen=True)
class Wanted:
    purpose: str
    jars: tuple[str, ...]
    from_pyspark: tuple[str, ...] = ()


def kafka(*artifacts: str) -> tuple[str, ...]:
    return tuple(f"org.apache.kafka:{artifact}:{KAFKA}" for artifact in artifacts)


SETS = {
    "spark-kafka": Wanted(
        "Spark's Kafka source, with the newest Kafka client it works with.",
        (
            # The connector of 4.2.0 runs on PySpark 4.2 and 4.3, with this older token provider.
            "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
            "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
            *kafka("kafka-clients"),
            "org.apache.commons:commons-pool2:2.13.1",
        ),
    ),
    "kafka-broker": Wanted(
        "A Kafka broker and controller, without what only its command-line tools need.",
        (
            *kafka(
                "kafka_2.13",
                "kafka-clients",
                "kafka-server",
                "kafka-server-common",
                "kafka-metadata",
                "kafka-raft",
                "kafka-storage",
                "kafka-storage-api",  # only replica fetchers load it: one broker alone would run without
                "kafka-group-coordinator",
                "kafka-group-coordinator-api",
                "kafka-coordinator-common",
                "kafka-share-coordinator",
                "kafka-transaction-coordinator",
            ),
            "com.yammer.metrics:metrics-core:2.2.0",
            "com.typesafe.scala-logging:scala-logging_2.13:3.9.6",
            "org.pcollections:pcollections:4.0.2",
            "com.google.re2j:re2j:1.8",
            "com.dynatrace.hash4j:hash4j:0.22.0",
            "org.hdrhistogram:HdrHistogram:2.2.2",
            "commons-validator:commons-validator:1.10.1",
            "net.sf.jopt-simple:jopt-simple:5.0.4",
        ),
        ("scala-library", *JACKSON, *LOGGING, *COMPRESSION),
    ),
    "oracle": Wanted(
        "Kafka Streams and its test driver: what Tidemill's results are compared with.",
        (
            *kafka("kafka-streams", "kafka-streams-test-utils", "kafka-clients"),
            "org.rocksdb:rocksdbjni:10.1.3",
        ),
        (*JACKSON, *LOGGING, *COMPRESSION),
    ),
    "ecj": Wanted(
        "A Java compiler for machines that have only a runtime.",
        ("org.eclipse.jdt:ecj:3.46.100",),
    ),
}


def pin(coordinates: str, root: str) -> Jar:
    group, artifact, version = coordinates.split(":")
    unpinned = Jar(group, artifact, version, "", 0)
    with urllib.request.urlopen(root + unpinned.path, timeout=60) as answer:
        content = answer.read()
    print(f"{unpinned.name}: {len(content)} bytes", flush=True)
    return Jar(group, artifact, version, hashlib.sha512(content).hexdigest(), len(content))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; all by default")
    chosen = parser.parse_args().sets or list(SETS)
    root = repository_url()
    for name in chosen:
        wanted = SETS[name]
        lock = {
            "purpose": wanted.purpose,
            "jars": [asdict(pin(coordinates, root)) for coordinates in wanted.jars],
            "from_pyspark": list(wanted.from_pyspark),
        }
        (LOCKS / f"{name}.json").write_text(json.dumps(lock, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
