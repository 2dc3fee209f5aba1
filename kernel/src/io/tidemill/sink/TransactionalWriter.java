package io.tidemill.sink;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
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
  private final Delivery delivery = new Delivery();
  private final Map<Lane, TransactionalProducer> producers = new LinkedHashMap<>();
  private Lane lane;
  private TransactionalProducer producer;
  private boolean skipping;
  private boolean doubtful;

  TransactionalWriter(SinkOptions options, RecordFields fields, long epoch) {
    this.options = options;
    this.fields = fields;
    this.epoch = epoch;
  }

  @Override
  public void write(InternalRow row) {
    if (!fields.isOf(lane, row)) {
      enter(fields.lane(row));
    }
    if (skipping) {
      return;
    }
    ProducerRecord<byte[], byte[]> record = fields.record(row);
    doubtful = true;
    delivery.send(producer.raw(), record);
    doubtful = false;
  }

  @Override
  public WriterCommitMessage commit() {
    doubtful = true;
    var each = producers.entrySet().iterator();
    while (each.hasNext()) {
      var entry = each.next();
      if (entry.getValue().lastEpoch() < epoch) {
        Failpoint.reach("after_produce_before_txn_commit");
        entry.getValue().commit(epoch, delivery);
        Failpoint.reach("after_txn_commit_before_sink_ack");
      }
      Producers.giveBack(options, entry.getKey(), entry.getValue());
      each.remove();
    }
    return new KafkaStreamingWrite.Written();
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

  private void enter(Lane next) {
    lane = next;
    producer = producers.get(next);
    if (producer == null) {
      producer = Producers.take(options, next, epoch);
      producers.put(next, producer);
      if (producer.lastEpoch() < epoch) {
        producer.begin();
      }
    }
    skipping = producer.lastEpoch() >= epoch;
  }
}
