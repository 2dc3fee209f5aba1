package io.tidemill.sink;

import io.tidemill.problem.RecordFailure;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Sends the records of one transaction, or of one task without transactions, and goes on without those that cannot be
 * written.
 *
 * A broker tells of a bad record long after it was sent, and a transaction with one in it can only be aborted. So the
 * records of a transaction are kept until all are known to be good; where some are not, the rest is sent again.
 */
final class Patient {
  private static final int ROUNDS = 8;
  private static final int DEFAULT_REQUEST = 1024 * 1024;
  private static final int OVERHEAD = 200;
  private static final Map<String, Integer> LIMITS = new ConcurrentHashMap<>();
  private static final long PAUSE_MS = 2;
  private static final long CAUSE_MS = 3000;
  private static final long LONGEST_MS = 180_000;

  private final SinkOptions options;
  private final Handled handled;
  private final Supplier<Producer<byte[], byte[]>> restart;
  private final boolean inTransaction;
  private final int longest;
  private final Set<String> missing = new HashSet<>();
  private final List<Sent> kept = new ArrayList<>();
  private Producer<byte[], byte[]> producer;
  private Round round = new Round();

  private record Sent(ProducerRecord<byte[], byte[]> record, String node, boolean isLetter) {}

  private record Rejected(Sent sent, SinkError error) {}

  /**
   * What the broker has said about the records sent to one producer. A producer that is left behind speaks into its own
   * round, to which nobody listens any more.
   */
  private static final class Round {
    final ConcurrentLinkedQueue<Rejected> rejected = new ConcurrentLinkedQueue<>();
    final AtomicInteger pending = new AtomicInteger();
  }

  /** @param restart aborts the transaction and begins another; null where there are none */
  Patient(
      SinkOptions options, Handled handled, Producer<byte[], byte[]> producer,
      Supplier<Producer<byte[], byte[]>> restart) {
    this.options = options;
    this.handled = handled;
    this.producer = producer;
    this.restart = restart;
    this.inTransaction = restart != null;
    String limit = options.kafka().get(ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
    this.longest = limit == null ? DEFAULT_REQUEST : Integer.parseInt(limit);
  }

  void send(ProducerRecord<byte[], byte[]> record, String node, boolean isLetter) {
    keep(new Sent(record, node, isLetter));
    if (!inTransaction && !round.rejected.isEmpty()) {
      replace();
    }
  }

  private void keep(Sent sent) {
    if (inTransaction) {
      kept.add(sent);
    }
    transmit(sent);
  }

  /** A record that could not even be made. */
  void reject(ProducerRecord<byte[], byte[]> record, String node, SinkError error) {
    Sent sent = new Sent(record, node, false);
    if (inTransaction) {
      kept.add(sent);
    }
    round.rejected.add(new Rejected(sent, error));
  }

  /** Waits until the broker has spoken about all records, and replaces the bad ones by their letters. */
  void settle() {
    for (int times = 0; times < ROUNDS; times++) {
      await(() -> round.pending.get() > 0 && !(inTransaction && !round.rejected.isEmpty()), LONGEST_MS);
      if (round.pending.get() > 0 && round.rejected.isEmpty()) {
        throw new SinkError(SinkError.Code.UNREACHABLE, "the brokers said nothing about records sent to them");
      }
      if (round.rejected.isEmpty()) {
        return;
      }
      replace();
    }
    await(() -> round.pending.get() > 0 && round.rejected.isEmpty(), LONGEST_MS);
    if (!round.rejected.isEmpty()) {
      throw round.rejected.peek().error();
    }
  }

  private void replace() {
    if (inTransaction) {
      again(causes());
      return;
    }
    for (Rejected each = round.rejected.poll(); each != null; each = round.rejected.poll()) {
      if (!isAboutRecord(each.error())) {
        throw each.error();
      }
      Sent next = instead(each.sent(), each.error());
      if (next != null) {
        transmit(next);
      }
    }
  }

  /**
   * The records a transaction failed for. Others of it may be refused for no other reason than that, and may be told of
   * first, or never: a producer that splits a batch in a failed transaction forgets to speak. So nobody waits for all.
   */
  private List<Rejected> causes() {
    await(() -> round.pending.get() > 0 && round.rejected.stream().noneMatch(each -> isAboutRecord(each.error())), CAUSE_MS);
    List<Rejected> all = new ArrayList<>(round.rejected);
    List<Rejected> causes = all.stream().filter(each -> isAboutRecord(each.error())).toList();
    if (causes.isEmpty()) {
      throw all.get(0).error();
    }
    return causes;
  }

  private static void await(BooleanSupplier waiting, long millis) {
    long start = System.nanoTime();
    while (waiting.getAsBoolean() && (System.nanoTime() - start) / 1_000_000 < millis) {
      try {
        Thread.sleep(PAUSE_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new SinkError(SinkError.Code.OTHER, "the task was stopped while it waited for the broker");
      }
    }
  }

  private void again(List<Rejected> bad) {
    Map<Sent, SinkError> errors = new IdentityHashMap<>();
    bad.forEach(each -> errors.putIfAbsent(each.sent(), each.error()));
    List<Sent> before = new ArrayList<>(kept);
    kept.clear();
    for (Sent sent : before) {
      SinkError error = errors.get(sent);
      Sent next = error == null ? sent : instead(sent, error);
      if (next != null) {
        kept.add(next);
      }
    }
    round = new Round();
    producer = restart.get();
    kept.forEach(this::transmit);
  }

  /** What is written for a record that cannot be; null for nothing. */
  private Sent instead(Sent sent, SinkError error) {
    if (sent.isLetter()) {
      if (error.code() != SinkError.Code.TOO_LARGE || sent.record().value() == null) {
        throw error;
      }
      return new Sent(Handling.withoutValue(sent.record()), sent.node(), true);
    }
    ProducerRecord<byte[], byte[]> letter = options.handling().letter(sent.record(), sent.node(), error);
    handled.count(options.handling().outcomes().get(RecordFailure.PRODUCTION), letter.headers());
    return options.handling().writesLetter(RecordFailure.PRODUCTION) ? new Sent(letter, sent.node(), true) : null;
  }

  private void transmit(Sent sent) {
    Round mine = round;
    ProducerRecord<byte[], byte[]> record = sent.record();
    if (missing.contains(record.topic())) {
      mine.rejected.add(new Rejected(sent, SinkError.of(new UnknownTopicOrPartitionException(), record.topic())));
      return;
    }
    long limit = limit(record.topic());
    if (size(record) > limit) {
      var error = new RecordTooLargeException(
          "a record of about " + size(record) + " bytes is larger than " + limit + ", the most that is taken");
      mine.rejected.add(new Rejected(sent, SinkError.of(error, record.topic())));
      return;
    }
    if (inTransaction && !mine.rejected.isEmpty()) {
      return; // the transaction is lost already; this record goes out with the next
    }
    mine.pending.incrementAndGet();
    try {
      producer.send(record, (metadata, error) -> {
        if (error != null) {
          mine.rejected.add(new Rejected(sent, SinkError.of(error, record.topic())));
        }
        mine.pending.decrementAndGet();
      });
    } catch (RuntimeException e) {
      mine.pending.decrementAndGet();
      if (mine.rejected.isEmpty()) {
        mine.rejected.add(new Rejected(sent, SinkError.of(e, record.topic())));
      }
    }
  }

  private boolean isAboutRecord(SinkError error) {
    if (error.code() == SinkError.Code.UNKNOWN_TOPIC && error.topic() != null) {
      return missing.contains(error.topic()) || isMissing(error.topic()) && missing.add(error.topic());
    }
    return error.isAboutRecord();
  }

  /** A topic nobody has heard of in time may be missing, or its broker away: that is told apart by asking. */
  private boolean isMissing(String topic) {
    try (Admin admin = Admin.create(options.admin())) {
      admin.describeTopics(List.of(topic)).allTopicNames().get();
      return false;
    } catch (ExecutionException e) {
      return e.getCause() instanceof UnknownTopicOrPartitionException || e.getCause() instanceof InvalidTopicException;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /**
   * The longest record a topic takes. Without compression that is known before a record is sent, and has to be: a batch
   * that is refused as a whole in a transaction is split by the producer, which may then never speak of it again.
   */
  private long limit(String topic) {
    String compression = options.kafka().getOrDefault(ProducerConfig.COMPRESSION_TYPE_CONFIG, "none");
    if (!"none".equals(compression)) {
      return longest;
    }
    return Math.min(longest, LIMITS.computeIfAbsent(topic, this::asked).longValue() + OVERHEAD);
  }

  private Integer asked(String topic) {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    try (Admin admin = Admin.create(options.admin())) {
      var config = admin.describeConfigs(List.of(resource)).all().get().get(resource);
      return Integer.valueOf(config.get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG).value());
    } catch (ExecutionException | RuntimeException e) {
      return Integer.MAX_VALUE; // not there, or not ours to ask: the broker will say
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Integer.MAX_VALUE;
    }
  }

  private static long size(ProducerRecord<byte[], byte[]> record) {
    long size = OVERHEAD + (record.key() == null ? 0 : record.key().length)
        + (record.value() == null ? 0 : record.value().length);
    for (var header : record.headers()) {
      size += 10 + header.key().length() + (header.value() == null ? 0 : header.value().length);
    }
    return size;
  }
}
