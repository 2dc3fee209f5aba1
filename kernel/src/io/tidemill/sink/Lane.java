package io.tidemill.sink;

import org.apache.kafka.common.TopicPartition;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What one transaction at a time is written for: a task of the topology, or a source partition where there are none.
 *
 * Spark's own partition numbers would not do. They may come out differently when a batch is replayed, and then one
 * part of a batch would be skipped for another.
 *
 * @param topic the source topic, null for a task
 * @param number of the source partition or the task
 * @param topicBytes the topic as rows have it
 */
record Lane(String topic, int number, UTF8String topicBytes) {
  Lane(String topic, int number) {
    this(topic, number, topic == null ? null : UTF8String.fromString(topic));
  }

  String transactionalId(String prefix) {
    return topic == null ? prefix + "-" + number : prefix + "-" + topic + "-" + number;
  }

  /** A partition that is there for sure: of the marker topic behind the one of the claim, or the source's own. */
  TopicPartition marker(String markers) {
    return topic == null
        ? new TopicPartition(markers, Claim.PARTITION + 1 + number)
        : new TopicPartition(topic, number);
  }
}
