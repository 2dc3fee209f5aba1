package io.tidemill.source;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.util.AccumulatorV2;

/** What tasks have read, by topic; counted on the workers, read on the driver. Failed attempts do not count. */
final class ReadCounts extends AccumulatorV2<ReadCounts.Count, Map<String, ReadCounts.Count>> {
  private Map<String, Count> topics = new HashMap<>();

  /**
   * Records of one topic.
   *
   * @param bytes the size of their rows in Spark
   * @param latest the largest timestamp, in milliseconds
   */
  record Count(String topic, long records, long bytes, long latest) implements Serializable {
    Count plus(Count other) {
      return new Count(topic, records + other.records, bytes + other.bytes, Math.max(latest, other.latest));
    }
  }

  synchronized long records() {
    return topics.values().stream().mapToLong(Count::records).sum();
  }

  synchronized long bytes() {
    return topics.values().stream().mapToLong(Count::bytes).sum();
  }

  @Override
  public synchronized void add(Count count) {
    topics.merge(count.topic, count, Count::plus);
  }

  @Override
  public void merge(AccumulatorV2<Count, Map<String, Count>> other) {
    other.value().values().forEach(this::add);
  }

  @Override
  public synchronized boolean isZero() {
    return topics.isEmpty();
  }

  @Override
  public synchronized AccumulatorV2<Count, Map<String, Count>> copy() {
    ReadCounts copy = new ReadCounts();
    copy.topics.putAll(topics);
    return copy;
  }

  @Override
  public synchronized void reset() {
    topics = new HashMap<>();
  }

  @Override
  public synchronized Map<String, Count> value() {
    return new HashMap<>(topics);
  }
}
