package io.tidemill.sink;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;

/** The producers of this JVM: opening one costs more than a small batch. */
public final class Producers {
  private static final Duration IDLE_LIMIT = Duration.ofMinutes(10);
  private static final Map<SinkOptions, Producer<byte[], byte[]>> SHARED = new ConcurrentHashMap<>();
  private static final Map<String, TransactionalProducer> FREE = new ConcurrentHashMap<>();

  private Producers() {}

  /** The producer all tasks of a query share where there are no transactions. */
  static Producer<byte[], byte[]> shared(SinkOptions options) {
    try {
      return SHARED.computeIfAbsent(options, wanted -> new KafkaProducer<>(wanted.producer()));
    } catch (RuntimeException e) {
      throw SinkError.of(e, null);
    }
  }

  /**
   * A producer for one batch of a lane, the caller's alone until it is given back.
   *
   * Where there are several JVMs, a kept one is used only if it wrote the batch before this one: otherwise another JVM
   * may have written in between.
   */
  static TransactionalProducer take(SinkOptions options, Lane lane, long epoch) {
    closeIdle();
    TransactionalProducer kept = FREE.remove(key(options, lane));
    if (kept != null && (kept.lastEpoch() == epoch - 1 || options.oneProcess() && kept.lastEpoch() < epoch)) {
      return kept;
    }
    if (kept != null) {
      kept.discard();
    }
    return TransactionalProducer.open(options, lane);
  }

  static void giveBack(SinkOptions options, Lane lane, TransactionalProducer producer) {
    TransactionalProducer other = FREE.put(key(options, lane), producer);
    if (other != null) {
      other.discard();
    }
  }

  /** Close everything this JVM keeps for a query: called when it has stopped. */
  public static void close(String queryId) {
    FREE.forEach((key, producer) -> {
      if (key.startsWith(queryId + "/") && FREE.remove(key, producer)) {
        producer.discard();
      }
    });
    SHARED.forEach((options, producer) -> {
      if (options.queryId().equals(queryId) && SHARED.remove(options, producer)) {
        producer.close(Duration.ofSeconds(5));
      }
    });
  }

  private static void closeIdle() {
    FREE.forEach((key, producer) -> {
      if (producer.idle().compareTo(IDLE_LIMIT) > 0 && FREE.remove(key, producer)) {
        producer.discard();
      }
    });
  }

  private static String key(SinkOptions options, Lane lane) {
    return options.queryId() + "/" + lane.transactionalId(options.idPrefix());
  }
}
