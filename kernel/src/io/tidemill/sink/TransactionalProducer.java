package io.tidemill.sink;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * The one writer of a lane, and the last batch of it known to be in Kafka.
 *
 * The marker of a batch is the committed offset (batch + 1) of the group `markers` in the lane's partition: it belongs
 * to the transaction of the batch's records. Its metadata is the id of the checkpoint, because another checkpoint
 * counts its batches anew, and the layout, because in another one the lane's part of a batch has other records.
 */
final class TransactionalProducer {
  private static final long NONE = -1;
  private static final String SEPARATOR = "/";

  private final SinkOptions options;
  private final TopicPartition marker;
  private final String id;
  private final Producer<byte[], byte[]> producer;
  private long lastEpoch;
  private String lastLayout;
  private long usedAt = System.nanoTime();

  private TransactionalProducer(SinkOptions options, Lane lane) {
    this.options = options;
    this.marker = lane.marker(options.markers());
    Map<String, Object> config = new HashMap<>(options.producer());
    this.id = lane.transactionalId(options.idPrefix());
    config.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, id);
    this.producer = new KafkaProducer<>(config);
    this.lastLayout = options.layout();
  }

  /** Fence whoever wrote this lane before, end its transaction, and see how far it came. */
  static TransactionalProducer open(SinkOptions options, Lane lane) {
    TransactionalProducer opened = new TransactionalProducer(options, lane);
    try {
      opened.producer.initTransactions();
      opened.lastEpoch = opened.readMarker();
      return opened;
    } catch (RuntimeException e) {
      opened.discard();
      throw SinkError.of(e, null, opened.id);
    }
  }

  long lastEpoch() {
    return lastEpoch;
  }

  /** Whether this batch of the lane is in Kafka already; refuses one of which other records would be there. */
  boolean hasWritten(long epoch) {
    if (lastEpoch < epoch) {
      return false;
    }
    if (!lastLayout.equals(options.layout())) {
      throw new SinkError(SinkError.Code.LAYOUT, "batch " + epoch + " was partly written before its records were"
          + " placed in another way: `" + lastLayout + "` then, `" + options.layout() + "` now");
    }
    return true;
  }

  Duration idle() {
    return Duration.ofNanos(System.nanoTime() - usedAt);
  }

  Producer<byte[], byte[]> raw() {
    return producer;
  }

  void begin() {
    try {
      producer.beginTransaction();
    } catch (RuntimeException e) {
      throw SinkError.of(e, null);
    }
  }

  /** @param member who holds the claim to write: the broker refuses anybody else; null if there is no claim */
  void commit(long epoch, Delivery delivery, Claim.Member member) {
    try {
      OffsetAndMetadata done =
          new OffsetAndMetadata(epoch + 1, Notes.write(options.queryId() + SEPARATOR + options.layout()));
      ConsumerGroupMetadata by = member == null ? new ConsumerGroupMetadata(options.markers()) : member.metadata();
      producer.sendOffsetsToTransaction(Map.of(marker, done), by);
      producer.commitTransaction();
    } catch (RuntimeException e) {
      delivery.check();
      throw SinkError.of(e, null, id);
    }
    lastEpoch = epoch;
    lastLayout = options.layout();
    usedAt = System.nanoTime();
  }

  /** Take the records back at once, so that readers need not wait for the broker to give the transaction up. */
  void abort() {
    try {
      producer.abortTransaction();
    } catch (KafkaException ignored) {
      // The next one to open this lane, or the transaction timeout, does it.
    }
  }

  /** Close without a word to the broker; the next one to open this lane ends what is open. */
  void discard() {
    try {
      producer.close(Duration.ZERO);
    } catch (KafkaException ignored) {
      // What matters is known already: this producer is not to be used again.
    }
  }

  private long readMarker() {
    if (Failpoint.isSwitchedOn("ignore_markers")) {
      return NONE;
    }
    try (Admin admin = Admin.create(options.admin())) {
      var offsets = admin.listConsumerGroupOffsets(options.markers(),
          new ListConsumerGroupOffsetsOptions().requireStable(true)).partitionsToOffsetAndMetadata().get();
      OffsetAndMetadata found = offsets.get(marker);
      String[] note = found == null ? new String[] {""} : Notes.read(found.metadata()).split(SEPARATOR, 2);
      if (!options.queryId().equals(note[0])) {
        return NONE;
      }
      lastLayout = note.length > 1 ? note[1] : "";
      return found.offset() - 1;
    } catch (ExecutionException e) {
      throw SinkError.of(e.getCause(), null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new org.apache.kafka.common.errors.InterruptException(e);
    }
  }
}
