package io.tidemill.sink;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * Writes the records of one sink partition and batch in one transaction, together with the batch's marker.
 *
 * A batch whose marker is there already has been written by an earlier attempt: its rows are read and forgotten.
 * Nothing is opened for a partition without rows; a replay has none either.
 */
final class TransactionalWriter implements DataWriter<InternalRow> {
  private final SinkOptions options;
  private final RecordFields fields;
  private final int partition;
  private final long epoch;
  private final Delivery delivery = new Delivery();
  private TransactionalProducer producer;
  private boolean skipping;
  private boolean doubtful;

  TransactionalWriter(SinkOptions options, RecordFields fields, int partition, long epoch) {
    this.options = options;
    this.fields = fields;
    this.partition = partition;
    this.epoch = epoch;
  }

  @Override
  public void write(InternalRow row) {
    if (skipping) {
      return;
    }
    if (producer == null && !begin()) {
      return;
    }
    ProducerRecord<byte[], byte[]> record = fields.record(row);
    doubtful = true;
    delivery.send(producer.raw(), record);
    doubtful = false;
  }

  @Override
  public WriterCommitMessage commit() {
    if (producer != null && !skipping) {
      Failpoint.reach("after_produce_before_txn_commit");
      doubtful = true;
      producer.commit(epoch, delivery);
      Failpoint.reach("after_txn_commit_before_sink_ack");
    }
    if (producer == null) {
      Producers.nothingWritten(options, partition, epoch);
    } else {
      Producers.giveBack(options, partition, producer);
      producer = null;
    }
    return new KafkaStreamingWrite.Written();
  }

  @Override
  public void abort() {
    if (producer != null) {
      if (!skipping && !doubtful) {
        producer.abort();
      }
      // After an error nobody knows what the broker knows: only a fresh start under the same id finds out.
      producer.discard();
      producer = null;
    }
  }

  @Override
  public void close() {
    abort();
  }

  /** @return false if this batch has been written already */
  private boolean begin() {
    producer = Producers.take(options, partition, epoch);
    skipping = producer.lastEpoch() >= epoch;
    if (!skipping) {
      producer.begin();
    }
    return !skipping;
  }
}
