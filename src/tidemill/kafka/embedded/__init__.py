"""A real Kafka on this machine without installing one: `with Cluster(brokers=3) as kafka: ...`."""

from __future__ import annotations

from tidemill.kafka.embedded.cluster import Cluster
from tidemill.kafka.embedded.dev import (
    BrokerStatus,
    DevStatus,
    dev_cluster,
    dev_down,
    dev_fetch,
    dev_log_files,
    dev_names,
    dev_status,
    dev_up,
)

__all__ = [
    "BrokerStatus",
    "Cluster",
    "DevStatus",
    "dev_cluster",
    "dev_down",
    "dev_fetch",
    "dev_log_files",
    "dev_names",
    "dev_status",
    "dev_up",
]
