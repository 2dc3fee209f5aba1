package io.tidemill.source;

import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/** A consumer of one partition that goes on from batch to batch: what it fetched too much is there for the next one. */
final class Fetcher {
  private static final Duration POLL = Duration.ofMillis(500);

  final String key;
  private final TopicPartition partition;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private Iterator<ConsumerRecord<byte[], byte[]>> fetched = Collections.emptyIterator();
  private ConsumerRecord<byte[], byte[]> ahead;
  private long position = -1;
  private long until;
  private long patience;
  private boolean broken;
  private long usedAt = System.nanoTime();

  Fetcher(String key, TopicPartition partition, Map<String, Object> settings) {
    this.key = key;
    this.partition = partition;
    this.consumer = new KafkaConsumer<>(settings);
    consumer.assign(List.of(partition));
  }

  /** From here to there; what was fetched before is of use if it follows on the last batch. */
  void begin(long from, long to, long pollMillis) {
    until = to;
    patience = pollMillis;
    if (from != position) {
      fetched = Collections.emptyIterator();
      ahead = null;
      consumer.seek(partition, from);
      position = from;
    }
    broken = true; // until the batch is at its end, for whatever interrupts it may leave the consumer in pieces
  }

  /** The next record of the batch, null at its end. */
  ConsumerRecord<byte[], byte[]> next() {
    ConsumerRecord<byte[], byte[]> record = ahead != null ? ahead : fetched.hasNext() ? fetched.next() : fetch();
    ahead = null;
    if (record == null || record.offset() >= until) {
      // Offsets without a record behind the last one are the ends of transactions, or compacted away.
      ahead = record;
      position = until;
      broken = false;
      return null;
    }
    position = record.offset() + 1;
    return record;
  }

  private ConsumerRecord<byte[], byte[]> fetch() {
    if (position >= until) {
      return null;
    }
    long deadline = System.nanoTime() + patience * 1_000_000;
    while (true) {
      fetched = consumer.poll(POLL).records(partition).iterator();
      if (fetched.hasNext()) {
        return fetched.next();
      }
      long reached = consumer.position(partition);
      if (reached >= until) {
        return null;
      }
      if (System.nanoTime() > deadline) {
        throw new TimeoutException("no record of topic `" + partition.topic() + "` partition " + partition.partition()
            + " came in " + patience + " ms, of offsets " + reached + " to " + until);
      }
    }
  }

  /** Whether another batch may use it. */
  boolean isWhole() {
    return !broken;
  }

  Duration idle() {
    return Duration.ofNanos(System.nanoTime() - usedAt);
  }

  void rest() {
    usedAt = System.nanoTime();
  }

  void close() {
    consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ZERO));
  }
}
