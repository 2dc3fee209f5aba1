"""A real Kafka on this machine without installing one: `with Cluster(brokers=3) as kafka: ...`."""

from __future__ import annotations

from tidemill.kafka.embedded.cluster import Cluster

__all__ = ["Cluster"]
