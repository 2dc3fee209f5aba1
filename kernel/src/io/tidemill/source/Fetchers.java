package io.tidemill.source;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** The consumers of this JVM: connecting one costs more than a small batch. */
final class Fetchers {
  private static final Duration IDLE_LIMIT = Duration.ofMinutes(2);
  private static final Map<String, Fetcher> FREE = new ConcurrentHashMap<>();

  private Fetchers() {}

  /** A consumer of a partition, the caller's alone until it is given back. */
  static Fetcher take(TopicPartition partition, Map<String, Object> settings) {
    closeIdle();
    // Spark gives every start of a query a group of its own.
    String key = settings.get(ConsumerConfig.GROUP_ID_CONFIG) + "/" + partition;
    Fetcher kept = FREE.remove(key);
    return kept != null ? kept : new Fetcher(key, partition, settings);
  }

  static void giveBack(Fetcher fetcher) {
    fetcher.rest();
    Fetcher other = fetcher.isWhole() ? FREE.put(fetcher.key, fetcher) : fetcher;
    if (other != null) {
      close(other);
    }
  }

  /** Closes what nobody has used for a while: of queries that have ended, or partitions others read now. */
  static void closeIdle() {
    closeIdle(IDLE_LIMIT);
  }

  /** Closes the consumers of a query that has stopped. */
  static void close(String group) {
    FREE.forEach((key, fetcher) -> {
      if (key.startsWith(group + "/") && FREE.remove(key, fetcher)) {
        close(fetcher);
      }
    });
  }

  private static void closeIdle(Duration limit) {
    FREE.forEach((key, fetcher) -> {
      if (fetcher.idle().compareTo(limit) > 0 && FREE.remove(key, fetcher)) {
        close(fetcher);
      }
    });
  }

  private static void close(Fetcher fetcher) {
    try {
      fetcher.close();
    } catch (KafkaException ignored) {
      // It is not to be used again in any case.
    }
  }
}
