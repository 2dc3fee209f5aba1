"""The Java virtual machine of the oracle: one per process, started at the first use, never restarted."""

from __future__ import annotations

from functools import cache
from typing import Any

import jpype


@cache
def start() -> None:
    """Starts the machine with the Kafka Streams jars on its class path."""
    from tidemill.kafka import jars, java

    if jpype.isJVMStarted():
        return
    jpype.startJVM(
        str(java.find_java().home / "lib" / "server" / "libjvm.so"),
        "-Xmx512m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        # A failing scenario is an answer, not something to print.
        "-Dlog4j2.level=OFF",
        classpath=[str(jar) for jar in jars.resolve("oracle")],
        convertStrings=False,
    )


@cache
def java_class(name: str) -> Any:
    """A Java class by its full name."""
    start()
    return jpype.JClass(name)


def streams(name: str) -> Any:
    """A class of `org.apache.kafka.streams`, by the rest of its name."""
    return java_class(f"org.apache.kafka.streams.{name}")


def dsl(name: str) -> Any:
    """A class of the Kafka Streams DSL."""
    return streams(f"kstream.{name}")


def millis(duration: int) -> Any:
    return java_class("java.time.Duration").ofMillis(duration)
