package io.tidemill.source;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/** The times of records, asked of the brokers. */
final class KafkaTimes implements TimeCut.Times, AutoCloseable {
  private final Admin admin;

  KafkaTimes(Map<String, Object> settings) {
    this.admin = Admin.create(settings);
  }

  @Override
  public Map<TopicPartition, Long> offsets(Map<TopicPartition, Long> times) {
    Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
    times.forEach((partition, time) -> asked.put(partition, OffsetSpec.forTimestamp(time)));
    Map<TopicPartition, Long> found = new HashMap<>();
    list(asked).forEach((partition, info) -> {
      if (info.offset() >= 0) {
        found.put(partition, info.offset());
      }
    });
    return found;
  }

  @Override
  public TimeCut.Span span(Collection<TopicPartition> partitions) {
    Map<TopicPartition, OffsetSpec> first = new HashMap<>();
    Map<TopicPartition, OffsetSpec> last = new HashMap<>();
    for (TopicPartition partition : partitions) {
      first.put(partition, OffsetSpec.forTimestamp(0));
      last.put(partition, OffsetSpec.maxTimestamp());
    }
    long oldest = Long.MAX_VALUE;
    for (ListOffsetsResultInfo info : list(first).values()) {
      oldest = info.offset() >= 0 ? Math.min(oldest, info.timestamp()) : oldest;
    }
    long newest = 0;
    for (ListOffsetsResultInfo info : list(last).values()) {
      newest = Math.max(newest, info.timestamp());
    }
    // The first record of a partition need not be its oldest: what is older than it is found at once all the same.
    return new TimeCut.Span(Math.min(oldest, newest), newest);
  }

  @Override
  public void close() {
    admin.close();
  }

  private Map<TopicPartition, ListOffsetsResultInfo> list(Map<TopicPartition, OffsetSpec> asked) {
    try {
      return admin.listOffsets(asked).all().get();
    } catch (ExecutionException e) {
      throw SourceError.of(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new org.apache.kafka.common.errors.InterruptException(e);
    }
  }
}
