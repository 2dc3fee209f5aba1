package io.tidemill.sink;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * Writes the records of each {@link Lane} in one transaction, together with the batch's marker.
 *
 * A lane whose marker is there already has been written by an earlier attempt: its rows are read and forgotten. Nothing
 * is opened for a lane without rows; a replay has none either.
 */
final class TransactionalWriter implements DataWriter<InternalRow> {
  private final SinkOptions options;
  private final RecordFields fields;
  private final long epoch;
  private final Claim.Member member;
  private final Handled handled = new Handled();
  private final SentCounts sent = new SentCounts(true);
  private final Map<Lane, TransactionalProducer> producers = new LinkedHashMap<>();
  private final Map<Lane, Outbox> outboxes = new HashMap<>();
  private Lane lane;
  private TransactionalProducer producer;
  private boolean skipping;
  private boolean doubtful;

  TransactionalWriter(SinkOptions options, RecordFields fields, long epoch, Claim.Member member) {
    this.options = options;
    this.fields = fields;
    this.epoch = epoch;
    this.member = member;
  }

  @Override
  public void write(InternalRow row) {
    if (!fields.isOf(lane, row)) {
      enter(fields.lane(row));
    }
    if (skipping) {
      return;
    }
    doubtful = true;
    outboxes.get(lane).write(row);
    doubtful = false;
  }

  @Override
  public WriterCommitMessage commit() {
    doubtful = true;
    outboxes.values().forEach(Outbox::settle);
    var each = producers.entrySet().iterator();
    while (each.hasNext()) {
      var entry = each.next();
      if (entry.getValue().lastEpoch() < epoch) {
        Failpoint.reach("after_produce_before_txn_commit");
        entry.getValue().commit(epoch, outboxes.get(entry.getKey()).delivery(), member);
        Failpoint.reach("after_txn_commit_before_sink_ack");
      }
      Producers.giveBack(options, entry.getKey(), entry.getValue());
      each.remove();
    }
    sent.committed();
    return new KafkaStreamingWrite.Written(handled, sent);
  }

  @Override
  public void abort() {
    for (TransactionalProducer open : producers.values()) {
      if (!doubtful && open.lastEpoch() < epoch) {
        open.abort();
      }
      // After an error nobody knows what the broker knows: only a fresh start under the same id finds out.
      open.discard();
    }
    producers.clear();
  }

  @Override
  public void close() {
    abort();
  }

  /** A transaction with a bad record in it is taken back; a fresh start under the same id does so for sure. */
  private Producer<byte[], byte[]> restarted(Lane of) {
    producers.get(of).discard();
    TransactionalProducer fresh = TransactionalProducer.open(options, of);
    producers.put(of, fresh);
    fresh.begin();
    return fresh.raw();
  }

  private void enter(Lane next) {
    lane = next;
    producer = producers.get(next);
    if (producer == null) {
      producer = Producers.take(options, next, epoch);
      producers.put(next, producer);
      outboxes.put(next, new Outbox(options, handled, sent, fields, producer.raw(), () -> restarted(next)));
      if (!producer.hasWritten(epoch)) {
        producer.begin();
      }
    }
    skipping = producer.hasWritten(epoch);
  }
}
