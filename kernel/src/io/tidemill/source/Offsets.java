package io.tidemill.source;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Offsets by topic and partition, in the form Spark writes them: {"topic": {"0": 5}}. */
final class Offsets {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final TreeMap<String, TreeMap<Integer, Long>> topics;

  private Offsets(TreeMap<String, TreeMap<Integer, Long>> topics) {
    this.topics = topics;
  }

  static Offsets none() {
    return new Offsets(new TreeMap<>());
  }

  static Offsets parse(String json) {
    try {
      return new Offsets(JSON.readValue(json, new TypeReference<TreeMap<String, TreeMap<Integer, Long>>>() {}));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not offsets: " + json, e);
    }
  }

  /** The first offsets there are; a partition that does not exist is left out. */
  static Offsets earliest(Admin admin, Collection<TopicPartition> partitions) {
    Offsets found = none();
    Map<TopicPartition, OffsetSpec> asked = new java.util.HashMap<>();
    partitions.forEach(partition -> asked.put(partition, OffsetSpec.earliest()));
    var answers = admin.listOffsets(asked);
    for (TopicPartition partition : partitions) {
      try {
        found.put(partition, answers.partitionResult(partition).get().offset());
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
          throw SourceError.of(e.getCause());
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new org.apache.kafka.common.errors.InterruptException(e);
      }
    }
    return found;
  }

  Offsets copy() {
    Offsets copy = none();
    partitions().forEach(partition -> copy.put(partition, get(partition)));
    return copy;
  }

  Collection<TopicPartition> partitions() {
    return topics.entrySet().stream()
        .flatMap(topic -> topic.getValue().keySet().stream().map(part -> new TopicPartition(topic.getKey(), part)))
        .toList();
  }

  Long get(TopicPartition partition) {
    TreeMap<Integer, Long> found = topics.get(partition.topic());
    return found == null ? null : found.get(partition.partition());
  }

  void put(TopicPartition partition, long offset) {
    topics.computeIfAbsent(partition.topic(), ignored -> new TreeMap<>()).put(partition.partition(), offset);
  }

  void remove(TopicPartition partition) {
    TreeMap<Integer, Long> found = topics.get(partition.topic());
    if (found != null && found.remove(partition.partition()) != null && found.isEmpty()) {
      topics.remove(partition.topic());
    }
  }

  String json() {
    try {
      return JSON.writeValueAsString(topics);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
