package io.tidemill.source;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spark's stream of Kafka records with a watch on its offsets.
 *
 * Three things are added. It ends at given offsets, not only at the present end. Before its first batch it compares
 * where it is to go on with what the brokers still have: what is gone is told by topic, partition and offset, or left
 * out where the policy says so. And it stops before the first record of a partition the plan does not know.
 */
final class WatchedStream
    implements MicroBatchStream, SupportsTriggerAvailableNow, SupportsRealTimeMode, ReportsSourceMetrics {
  private static final Logger LOG = LoggerFactory.getLogger(WatchedStream.class);

  private final KafkaMicroBatchStream inner;
  private final SourceOptions options;
  private boolean checked;
  private boolean goesOn;
  /** The start of a batch whose records are partly gone, and where it begins instead; Spark plans a batch twice. */
  private String gone = "";
  private Offset instead;
  private KafkaTimes times;

  WatchedStream(KafkaMicroBatchStream inner, SourceOptions options) {
    this.inner = inner;
    this.options = options;
  }

  @Override
  public Offset latestOffset(Offset start, ReadLimit limit) {
    Offset end = inner.latestOffset(start, limit);
    if (end == null) {
      return null;
    }
    if (!options.planned().isEmpty()) {
      refuseUnknownPartitions(Offsets.parse(end.json()));
    }
    if (limit instanceof ReadMaxRows rows && !options.align().equals("none")) {
      end = aligned(start, end, rows.maxRows());
    }
    return options.until() == null ? end : capped(start, end);
  }

  /** A batch that does not take all there is ends everywhere at the same time. */
  private Offset aligned(Offset start, Offset end, long limit) {
    Offset newest = inner.reportLatestOffset();
    if (newest == null || newest.equals(end)) {
      return end;
    }
    if (times == null) {
      times = new KafkaTimes(options.admin());
    }
    Offset last = options.until() == null ? newest : capped(start, newest);
    Offsets ends = new TimeCut(times).ends(Offsets.parse(start.json()), Offsets.parse(last.json()), limit,
        options.align().equals("partition"));
    return ends == null ? end : inner.deserializeOffset(ends.json());
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    if (start.json().equals(gone)) {
      return inner.planInputPartitions(instead, end);
    }
    if (checked) {
      return inner.planInputPartitions(start, end);
    }
    goesOn = true;
    Offset from = available(start, end);
    checked = goesOn;
    if (from != start) {
      gone = start.json();
      instead = from;
    }
    return inner.planInputPartitions(from, end);
  }

  private void refuseUnknownPartitions(Offsets end) {
    for (TopicPartition partition : end.partitions()) {
      Integer known = options.planned().get(partition.topic());
      if (known != null && partition.partition() >= known) {
        throw new SourceError(SourceError.Code.PARTITIONS_ADDED,
            "topic `" + partition.topic() + "` has grown beyond its " + known + " partitions");
      }
    }
  }

  /** No further than `until`; never back, and nothing of a partition that came later. */
  private Offset capped(Offset start, Offset end) {
    Offsets from = Offsets.parse(start.json());
    Offsets to = Offsets.parse(end.json());
    for (TopicPartition partition : to.partitions()) {
      Long last = options.until().get(partition);
      Long begun = from.get(partition);
      if (last == null && begun == null) {
        to.remove(partition);
      } else if (last != null) {
        to.put(partition, Math.min(to.get(partition), Math.max(last, begun == null ? 0 : begun)));
      }
    }
    return inner.deserializeOffset(to.json());
  }

  /** Where to begin, given what the brokers have; throws if that is not where it should be and no policy helps. */
  private Offset available(Offset start, Offset end) {
    Offsets wanted = Offsets.parse(start.json());
    Offsets ends = Offsets.parse(end.json());
    Offsets first;
    try (Admin admin = Admin.create(options.admin())) {
      first = Offsets.earliest(admin, wanted.partitions());
    }
    Offsets from = wanted.copy();
    List<String> lost = new ArrayList<>();
    for (TopicPartition partition : wanted.partitions()) {
      Long low = first.get(partition);
      Long high = ends.get(partition);
      long asked = wanted.get(partition);
      if (low == null || high == null) {
        lost.add(named(partition) + ": wanted offset " + asked + ", the partition does not exist");
        from.remove(partition);
      } else if (options.recreated().contains(partition.topic())) {
        lost.add(named(partition) + ": wanted offset " + asked
            + ", the topic was deleted and created again and has offsets " + low + " to " + high);
        from.put(partition, options.lost().equals("latest") ? high : low);
      } else if (asked > high || asked < low && asked < high) {
        lost.add(named(partition) + ": wanted offset " + asked + ", available are " + low + " to " + high);
        from.put(partition, options.lost().equals("latest") ? high : Math.min(low, high));
      } else if (asked < low) {
        // This batch wants nothing of the partition. The next one does.
        goesOn = false;
      }
    }
    if (lost.isEmpty()) {
      return start;
    }
    String told = String.join("; ", lost);
    if (options.lost().equals("fail")) {
      throw new SourceError(SourceError.Code.OFFSETS_LOST, told);
    }
    LOG.warn("records are gone from Kafka, going on at the {} ones there are: {}", options.lost(), told);
    return inner.deserializeOffset(from.json());
  }

  private static String named(TopicPartition partition) {
    return "topic `" + partition.topic() + "` partition " + partition.partition();
  }

  @Override
  public Offset latestOffset() {
    return inner.latestOffset();
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    return inner.getDefaultReadLimit();
  }

  @Override
  public Offset reportLatestOffset() {
    return inner.reportLatestOffset();
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    inner.prepareForTriggerAvailableNow();
  }

  @Override
  public void prepareForRealTimeMode() {
    inner.prepareForRealTimeMode();
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start) {
    return inner.planInputPartitions(start);
  }

  @Override
  public Offset mergeOffsets(PartitionOffset[] offsets) {
    return inner.mergeOffsets(offsets);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return inner.createReaderFactory();
  }

  @Override
  public Offset initialOffset() {
    return inner.initialOffset();
  }

  @Override
  public Offset deserializeOffset(String json) {
    return inner.deserializeOffset(json);
  }

  @Override
  public Map<String, String> metrics(Optional<Offset> consumed) {
    return inner.metrics(consumed);
  }

  @Override
  public void commit(Offset end) {
    inner.commit(end);
  }

  @Override
  public void stop() {
    if (times != null) {
      times.close();
    }
    inner.stop();
  }

  @Override
  public String toString() {
    return inner.toString();
  }
}
