"""Formats a broker's data directory, without the start of a JVM that Kafka's own tool costs."""

from __future__ import annotations

import base64
import uuid
from pathlib import Path

from tidemill.errors import SetupError

KAFKA_VERSION = "4.3.1"

REQUIRED_FEATURES = {"transaction.version": 2, "group.version": 1}
"""Levels below which exactly-once or the new group protocol would silently be weaker."""


def new_id() -> str:
    """A cluster or directory id: a UUID in Kafka's 22 characters."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # Kafka avoids a leading dash because its tools would take the id for an option.
        if not text.startswith("-"):
            return text


def format_directory(directory: Path, cluster_id: str, node: int) -> None:
    """Make `directory` the data directory of a new node; one that is formatted already is kept."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    known = directory / "meta.properties"
    if known.exists():
        found = read_properties(known)
        if found.get("cluster.id") != cluster_id or found.get("node.id") != str(node):
            raise SetupError(
                f"the directory belongs to node {found.get('node.id')} of cluster {found.get('cluster.id')}",
                where=str(directory),
                remedy=f"give node {node} of cluster {cluster_id} another directory, or remove this one",
            )
        return
    # Without these records the cluster starts, but with every feature except metadata.version at level 0.
    (directory / "bootstrap.checkpoint").write_bytes(base64.b64decode(_BOOTSTRAP_RECORDS))
    known.write_text(
        f"version=1\ncluster.id={cluster_id}\nnode.id={node}\ndirectory.id={new_id()}\n", encoding="utf-8"
    )


def read_properties(file: Path) -> dict[str, str]:
    """A Java properties file of plain `key=value` lines."""
    pairs = (line.partition("=") for line in file.read_text(encoding="utf-8").splitlines())
    return {key.strip(): value.strip() for key, sign, value in pairs if sign and not key.startswith("#")}


# What `kafka-storage format` of KAFKA_VERSION writes: the levels metadata.version=30, group.version=1,
# eligible.leader.replicas.version=1, share.version=1, streams.version=1, transaction.version=2.
# For another version, format a directory with its own tool and take the file from there.
_BOOTSTRAP_RECORDS = """
AAAAAAAAAAAAAABHAAAAAAIQoadVACAAAAAAAAABoeEP1DMAAAGh4Q/UM///////////////////AAAAASoAAAAIAAAAAxYAAAAAAAAAAAAA
AAAAAAAAAAAAAQAAAPEAAAAAAjsIFTIAAAAAAAUAAAGh4Q/UdgAAAaHhD9R2//////////////////8AAAAGOgAAAAEuAQwAEW1ldGFkYXRh
LnZlcnNpb24AHgAAWgAAAgFOAQwAIWVsaWdpYmxlLmxlYWRlci5yZXBsaWNhcy52ZXJzaW9uAAEAADQAAAQBKAEMAA5ncm91cC52ZXJzaW9u
AAEAADQAAAYBKAEMAA5zaGFyZS52ZXJzaW9uAAEAADgAAAgBLAEMABBzdHJlYW1zLnZlcnNpb24AAQAAQAAACgE0AQwAFHRyYW5zYWN0aW9u
LnZlcnNpb24AAgAAAAAAAAAAAAcAAAA/AAAAAAKQkx5XACAAAAAAAAABoeEP1HgAAAGh4Q/UeP//////////////////AAAAARoAAAAIAAAA
BAYAAAAA
"""
