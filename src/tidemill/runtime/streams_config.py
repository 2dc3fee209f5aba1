"""Kafka Streams' configuration keys, and what becomes of each one here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fate(StrEnum):
    """What Tidemill does with a key of Kafka Streams."""

    HONOURED = "honoured"
    NOT_NEEDED = "not needed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class StreamsKey:
    """One key of StreamsConfig; `note` says how it is honoured, why not needed, or what to do instead."""

    name: str
    fate: Fate
    note: str


def streams_key(name: str) -> StreamsKey | None:
    """The key of that name, None if Kafka Streams has none.

    >>> print(streams_key("num.standby.replicas").fate)
    not needed
    """
    return _BY_NAME.get(name)


_HONOURED = {
    "application.id": "names the consumer group, the state directory and the transactional ids",
    "bootstrap.servers": "as in Kafka Streams",
    "client.id": "passed to the clients",
    "commit.interval.ms": "how often a batch begins; 100 by default",
    "num.stream.threads": "task slots of a local Spark: master local[N]",
    "processing.guarantee": "exactly_once_v2 (the default) or at_least_once",
    "replication.factor": "of topics the app creates; -1 is the broker's default",
    "security.protocol": "passed to the clients, with sasl.* and ssl.*",
    "state.dir": "the app keeps its checkpoint in <state.dir>/<application.id>",
    "statestore.cache.max.bytes": "0 sends every update of a table out, else one per key and batch",
    "cache.max.bytes.buffering": "the old name of statestore.cache.max.bytes",
    "ensure.explicit.internal.resource.naming": "refuses derived names of stores",
    "deserialization.exception.handler": "fail (the default), continue or dead_letter",
    "processing.exception.handler": "fail (the default), continue or dead_letter",
    "production.exception.handler": "fail (the default), continue or dead_letter",
    "processing.exception.handler.global.enabled": "false: what keeps a global store always fails the app",
    "errors.dead.letter.queue.topic.name": "the topic of dead letters; <application.id>-dlq by default",
    "metadata.max.age.ms": "passed to the clients",
    "metadata.recovery.rebootstrap.trigger.ms": "passed to the clients",
    "metadata.recovery.strategy": "passed to the clients",
    "request.timeout.ms": "passed to the clients",
    "retry.backoff.ms": "passed to the clients",
    "reconnect.backoff.ms": "passed to the clients",
    "reconnect.backoff.max.ms": "passed to the clients",
    "send.buffer.bytes": "passed to the clients",
    "receive.buffer.bytes": "passed to the clients",
    "connections.max.idle.ms": "passed to the clients",
}
_NOT_NEEDED = {
    "acceptable.recovery.lag": "Spark places tasks and restores state by itself",
    "allow.os.group.write.access": "the state directory is the user's alone",
    "application.server": "the query server knows its own address",
    "buffered.records.per.partition": "batch.target.ms, memory and max.offsets.per.trigger bound a batch",
    "built.in.metrics.version": "metrics are Tidemill's own",
    "config.providers": "${env:..}, ${file:..} and ${dir:..} work in every value",
    "default.dsl.store": "state is always kept in RocksDB",
    "dsl.store.suppliers.class": "state is always kept in RocksDB",
    "dsl.store.format": "state has one format",
    "enable.metrics.push": "Spark's clients decide by themselves",
    "group.protocol": "there is no group membership: Spark assigns partitions",
    "log.summary.interval.ms": "metrics() and `tidemill top` tell at any time",
    "max.task.idle.ms": "a batch orders the records of all partitions by time",
    "max.warmup.replicas": "Spark restores state from the checkpoint",
    "metric.reporters": "metrics are Tidemill's own",
    "metrics.num.samples": "metrics are Tidemill's own",
    "metrics.recording.level": "metrics are Tidemill's own",
    "metrics.sample.window.ms": "metrics are Tidemill's own",
    "num.standby.replicas": "state is restored from the checkpoint, which any worker can read",
    "poll.ms": "Spark polls",
    "probing.rebalance.interval.ms": "there are no rebalances",
    "rack.aware.assignment.non_overlap_cost": "Spark assigns tasks",
    "rack.aware.assignment.strategy": "Spark assigns tasks",
    "rack.aware.assignment.tags": "Spark assigns tasks",
    "rack.aware.assignment.traffic_cost": "Spark assigns tasks",
    "repartition.purge.interval.ms": "records change partitions inside Spark, not through topics",
    "state.cleanup.delay.ms": "Spark removes old state files",
    "state.cleanup.dir.max.age.ms": "Spark removes old state files",
    "task.assignor.class": "Spark assigns tasks",
    "task.timeout.ms": "restart.limit and restart.backoff.ms say how often a failed query is tried again",
    "topology.optimization": "the plan is always the same, whatever is set",
    "upgrade.from": "there are no rebalances whose format could change",
    "window.size.ms": "a windowed serde knows its window",
    "windowed.inner.class.serde": "a windowed serde knows its inner one",
    "windowstore.changelog.additional.retention.ms": "a changelog keeps a day more; logging= may say else",
}
_REFUSED = {
    "default.client.supplier": "there are no Java clients to be supplied",
    "default.list.key.serde.inner": "give key=serdes.list_of(...) where a topic is read or written",
    "default.list.key.serde.type": "give key=serdes.list_of(...) where a topic is read or written",
    "default.list.value.serde.inner": "give value=serdes.list_of(...) where a topic is read or written",
    "default.list.value.serde.type": "give value=serdes.list_of(...) where a topic is read or written",
    "default.key.serde": "give key= where a topic is read or written",
    "default.value.serde": "give value= where a topic is read or written",
    "default.timestamp.extractor": "give timestamp= where a topic is read",
    "default.deserialization.exception.handler": "set deserialization.exception.handler",
    "default.production.exception.handler": "set production.exception.handler",
    "processor.wrapper.class": "Java classes are not loaded as processors",
    "rocksdb.config.setter": "set spark.sql.streaming.stateStore.rocksdb.* instead",
}

STREAMS_KEYS = tuple(
    StreamsKey(name, fate, note)
    for fate, keys in (
        (Fate.HONOURED, _HONOURED),
        (Fate.NOT_NEEDED, _NOT_NEEDED),
        (Fate.REFUSED, _REFUSED),
    )
    for name, note in sorted(keys.items())
)
"""Every key, the honoured ones first."""

_BY_NAME = {key.name: key for key in STREAMS_KEYS}
