package io.tidemill.sink;

import io.tidemill.problem.RecordFailure;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidTopicException;
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

  private final SinkOptions options;
  private final Handled handled;
  private final Supplier<Producer<byte[], byte[]>> restart;
  private final boolean inTransaction;
  private final int longest;
  private final Set<String> missing = new HashSet<>();
  private final List<Sent> kept = new ArrayList<>();
  private final ConcurrentLinkedQueue<Rejected> rejected = new ConcurrentLinkedQueue<>();
  private Producer<byte[], byte[]> producer;

  private record Sent(ProducerRecord<byte[], byte[]> record, String node, boolean isLetter) {}

  private record Rejected(Sent sent, SinkError error) {}

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
    if (!inTransaction && !rejected.isEmpty()) {
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
    rejected.add(new Rejected(sent, error));
  }

  /** Waits until the broker has spoken about all records, and replaces the bad ones by their letters. */
  void settle() {
    for (int round = 0; round < ROUNDS; round++) {
      producer.flush();
      if (rejected.isEmpty()) {
        return;
      }
      replace();
    }
    throw rejected.peek().error();
  }

  private void replace() {
    List<Rejected> now = new ArrayList<>();
    for (Rejected each = rejected.poll(); each != null; each = rejected.poll()) {
      if (!isAboutRecord(each.error())) {
        throw each.error();
      }
      now.add(each);
    }
    if (inTransaction) {
      again(now);
      return;
    }
    for (Rejected each : now) {
      Sent next = instead(each.sent(), each.error());
      if (next != null) {
        transmit(next);
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
    ProducerRecord<byte[], byte[]> record = sent.record();
    if (missing.contains(record.topic())) {
      rejected.add(new Rejected(sent, SinkError.of(new UnknownTopicOrPartitionException(), record.topic())));
      return;
    }
    if (size(record) > longest) {
      rejected.add(new Rejected(sent, new SinkError(SinkError.Code.TOO_LARGE,
          "a record of " + size(record) + " bytes is larger than max.request.size, " + longest)));
      return;
    }
    if (inTransaction && !rejected.isEmpty()) {
      return; // the transaction is lost already; this record goes out with the next
    }
    try {
      producer.send(record, (metadata, error) -> {
        if (error != null) {
          rejected.add(new Rejected(sent, SinkError.of(error, record.topic())));
        }
      });
    } catch (RuntimeException e) {
      if (rejected.isEmpty()) {
        rejected.add(new Rejected(sent, SinkError.of(e, record.topic())));
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

  private static long size(ProducerRecord<byte[], byte[]> record) {
    long size = OVERHEAD + (record.key() == null ? 0 : record.key().length)
        + (record.value() == null ? 0 : record.value().length);
    for (var header : record.headers()) {
      size += 10 + header.key().length() + (header.value() == null ? 0 : header.value().length);
    }
    return size;
  }
}
